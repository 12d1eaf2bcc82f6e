"""Items of the caller's dicts and lists that a compiled function sets."""

import collections

import pytest
from support.changed_state import X, parameters, state
from support.compiled import facts
from support.differential import check, check_at_exits, check_left_to_numpy
from support.outcome import assert_same, describe

import accel


def set_items(d, x):
    d["w"] = d["w"] - 0.1 * x
    d["b"] -= 1
    d["new"] = d["w"].sum()
    return d["b"]


def arrays_in_place(d, x):
    d["w"] -= 0.1 * x
    for name in ("w", "v"):
        d[name] *= 2
    return d["w"].sum()


def loop_over_items(d, x):
    for name in d:
        d[name] = d[name] * 2
    return list(d)


def items_in_loop(d, x):
    for k in range(4):
        d["b"] += k
        d["w"] = d["w"] * 0.5 + x
    return d["b"]


def updated(d, x):
    d.update(w=x, more=x + 1)
    d.update({"b": 5})
    return len(d), list(d.items())[0][1].sum(), "more" in d


def of_dicts(d, x):
    d["inner"]["w"] = x + d["inner"]["w"]
    d["inner"]["k"] = 1


def dict_of_state(d, x):
    d["state"].x = x * 2
    d["state"].energy += 1.0
    d["total"] = d["state"].energy


DICTS = [set_items, arrays_in_place, loop_over_items, items_in_loop, updated]


@pytest.mark.parametrize("function", DICTS, ids=lambda f: f.__name__)
def test_dicts(function):
    check(function, parameters(), X)
    check(function, parameters(), X[:1])
    check_at_exits(function, parameters(), X, most=60)


def test_new_keys_in_loops():
    def a_few(d, x, n):
        for k in range(n):
            d["total"] = d.get("total", 0.0) + x.sum()
            for name in ("a", "b"):
                d[name] = x + k
        return d.get("total")

    def one_per_round(d, x, n):
        total = 0.0
        for k in range(n):
            total += x.sum()
            d[k] = total
        return total

    call = accel.compile(a_few)
    for n in (0, 1, 2, 40):
        assert_same(a_few, call, {}, X, n)
        assert facts(call)["interpreted"] == facts(call)["side_exits"] == 0
    call = accel.compile(one_per_round)
    for n in (1, 2, 3, 4, 5, 40):
        assert_same(one_per_round, call, {}, X, n)
        assert facts(call)["interpreted"] == 0


def test_dicts_in_dicts():
    check(of_dicts, parameters(inner={"w": X}), X)
    check(dict_of_state, parameters(state=state()), X)


def test_one_dict_under_two_names():
    def function(a, b, x):
        a["b"] = x.sum()
        return b["b"]

    call = accel.compile(function)
    for _ in range(2):
        assert_same(function, call, parameters(), parameters(), X)
        one, expected = parameters(), parameters()
        assert call(one, one, X) == function(expected, expected, X)
    assert facts(call)["side_exits"] == 0


def test_subclasses_of_dict():
    def function(d, x):
        d["w"] = x * 2
        return x.sum()

    check_left_to_numpy(function, collections.OrderedDict(w=X), X)
    check_left_to_numpy(function, collections.defaultdict(list, w=X), X)


def test_lists_of_arrays_in_place():
    def function(layers, x):
        for k in range(2):
            layers[k] -= 0.1 * x
        return layers[0].sum()

    check(function, [X * 2, X + 1], X)


def set_list_items(layers, x):
    layers[0] = layers[0] - 0.1 * x
    layers[-1] = layers[0].sum()
    layers[1], layers[0] = layers[0], layers[1]
    return len(layers)


def list_items_in_loop(layers, x):
    for k in range(4):
        layers[1] = layers[1] * 0.5 + x
        layers[2] += k
        layers[0] = k
    return layers[2]


def list_of_states(states, x):
    for s in states:
        s.energy += x.sum()
    states[0] = states[1]
    states[0].x = x * 2


@pytest.mark.parametrize("function", [set_list_items, list_items_in_loop], ids=lambda f: f.__name__)
def test_items_of_lists(function):
    check(function, [X * 2, X + 1, 2.0], X)
    check_at_exits(function, [X * 2, X + 1, 2.0], X)


def test_lists_of_objects():
    check(list_of_states, [state(), state()], X)


def test_one_list_under_two_names():
    def function(a, b, x):
        a[0] = x.sum()
        return b[0]

    call = accel.compile(function)
    for _ in range(2):
        assert_same(function, call, [X, 1], [X, 2], X)
        one, expected = [X, 1], [X, 1]
        assert call(one, one, X) == function(expected, expected, X)
    assert facts(call)["side_exits"] == 0


def test_an_index_beyond_the_list():
    def function(layers, x):
        layers[0] = x + 1
        layers[3] = x

    check_left_to_numpy(function, [X, X], X)


def in_a_loop(owner, x, n):
    for k in range(n):
        x = x + owner[0] * k
    return x


def kept_in_itself(x, n):
    parts = [2.0]
    parts.append(parts)
    for _ in range(n):
        x = x + parts[0]
    return x, len(parts), parts[1] is parts


def itself_in_a_loop(owner, x, n):
    owner[1][0] = 3.0
    for _ in range(n):
        x = x + owner[0]
    return x


def list_of_itself():
    parts = [2.0]
    parts.append(parts)
    return parts


def dict_of_itself():
    parts = {0: 2.0}
    parts[1] = {0: 3.0, "back": [parts]}
    return parts


@pytest.mark.parametrize("make", [list_of_itself, dict_of_itself])
@pytest.mark.parametrize("function", [in_a_loop, itself_in_a_loop])
def test_containers_in_themselves(function, make):
    call = accel.compile(function)
    for owner in (make(), {0: 1.0, 1: [1.0]}, [1.0, [2.0]], make()):
        expected = function(owner, X, 5)  # what it sets is the same each time
        assert describe(call(owner, X, 5)) == describe(expected)
    assert facts(call)["compiled"] > 0


def test_a_made_list_in_itself():
    call = accel.compile(kept_in_itself)
    for n in (0, 1, 5):
        expected, found = kept_in_itself(X, n), call(X, n)
        assert describe(found) == describe(expected)
    assert facts(call)["compiled"] > 0


def test_arrays_in_containers_that_calls_get():
    """What the call may put into the container is not known before it."""

    def by_pop(d, y, n):
        for i in range(n):
            d["a"][0] = 1.0
            if i == 2:
                d.pop("n", None)
        return y

    def by_insert(d, y, n):
        for _ in range(n):
            d["list"][1] += 1.0
            d["list"].insert(1, y.copy())
        return y + d["a"]

    for function in (by_pop, by_insert):
        call = accel.compile(function)
        for share in (False, True, False, True):
            owners = [{"a": X.copy(), "n": 1, "list": [0.0, X.copy()]} for _ in range(2)]
            for owner in owners:
                if share:
                    owner["list"][1] = owner["a"]
            expected, found = function(owners[0], X, 5), call(owners[1], X, 5)
            assert describe((found, owners[1])) == describe((expected, owners[0]))
        assert facts(call)["calls"] == 4
