"""Capture keeps no object of the caller's alive: cycles of attributes, items and closures that the code makes are freed."""

import gc
import resource
import weakref

import numpy as np
import pytest
from support.compiled import facts

import accel


class Thing:
    def __init__(self):
        self.data = np.ones(3)
        self.items = [1.0, 2.0]
        self.table = {"a": 1.0}


class Slotted:
    __slots__ = ("__weakref__", "data", "other")

    def __init__(self):
        self.data = np.ones(3)
        self.other = None


def to_itself(thing):
    thing.me = thing
    return thing.data * 2


def to_each_other(one, two):
    one.next = two
    two.previous = one
    return one.data + two.data


def by_slots(one: Slotted, two: Slotted):
    one.other, two.other = two, one
    return one.data + two.data


def by_a_tuple(thing):
    thing.pair = (thing, 1)
    return thing.data * 2


def by_a_list(thing):
    thing.items[0] = thing
    thing.more = [thing]
    return thing.data * 2


def by_a_dict(thing):
    thing.table["a"] = thing
    thing.more = {"me": thing}
    return thing.data * 2


def by_a_closure(thing):
    def me():
        return thing

    thing.call = me
    return thing.data * 2


def by_a_default(thing):
    thing.call = lambda me=thing: me
    return thing.data * 2


def by_a_generator(thing):
    def rows():
        for k in range(3):
            yield thing.data * k

    thing.rows = rows()
    return thing.data * 2


def by_an_iterator(thing):
    thing.walk = iter([thing, 1.0])
    return thing.data * 2


def by_a_new_instance(thing):
    other = Link(thing)
    thing.link = other
    return thing.data * 2


class Link:
    def __init__(self, target):
        self.target = target


def in_a_loop(thing):
    total = 0.0
    for k in range(3):
        thing.me, thing.count = thing, k
        total += thing.data[k]
    return total


def on_one_path(thing):
    if thing.data[0] > 0:
        thing.me = thing
    return thing.data * 2


FUNCTIONS = [
    to_itself,
    to_each_other,
    by_slots,
    by_a_tuple,
    by_a_list,
    by_a_dict,
    by_a_closure,
    by_a_default,
    by_a_generator,
    by_an_iterator,
    by_a_new_instance,
    in_a_loop,
    on_one_path,
]


def arguments_of(function):
    made = Slotted if function is by_slots else Thing
    return [made() for _ in range(function.__code__.co_argcount)]


@pytest.mark.parametrize(
    ("function", "backend"),
    [(f, "numpy") for f in FUNCTIONS] + [(to_each_other, "native")],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_objects_of_the_first_call_die(function, backend):
    call = accel.compile(function, backend=backend)
    arguments = arguments_of(function)
    watched = [weakref.ref(each) for each in arguments]
    data = [weakref.ref(each.data) for each in arguments]
    expected = function(*arguments_of(function))
    assert np.array_equal(call(*arguments), expected)
    del arguments
    gc.collect()
    assert [type(each()).__name__ for each in watched + data] == ["NoneType"] * 2 * len(watched)
    assert facts(call)["compiled"] == 1


def cyclic(one, two):
    one.me, one.other, two.other, two.pair = one, two, one, (one, two)
    box = [one]
    box.append(box)
    return one.data[0] + two.data[1]


def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize()


@pytest.mark.thorough
def test_captures_leave_no_memory_behind():
    def capture(times):
        for _ in range(times):
            accel.reset(call)
            assert call(Thing(), Thing()) == 2.0

    def growth():
        gc.collect()
        objects, before = len(gc.get_objects()), resident()
        capture(300)
        gc.collect()
        return len(gc.get_objects()) - objects, resident() - before

    call = accel.compile(cyclic, backend="numpy")
    capture(300)
    objects, memory = zip(*[growth() for _ in range(3)], strict=True)
    assert min(objects) < 100
    # Bytes; less than the arrays and values of one capture each. What else the process does makes it grow once, not each time.
    assert min(memory) < 300 * 1000
    assert facts(call)["compiled"] == 1


def test_arrays_die_where_the_code_deletes_them_in_the_first_call():
    def own(a):
        made = a * 2
        seen = weakref.ref(made)
        del made
        return seen() is None

    def in_a_list(a):
        made = a * 2
        both = [made, made.T]
        seen = [weakref.ref(each) for each in both]
        del made, both
        return [each() is None for each in seen]

    for function in (own, in_a_list):
        call = accel.compile(function)
        assert [call(np.ones(3)) for _ in range(2)] == 2 * [function(np.ones(3))]
        assert facts(call)["compiled"] == 2, accel.explain(call)(np.ones(3))


def test_a_second_name_keeps_an_array_from_being_resized():
    def resize(a):
        made = a * 2
        other = made  # noqa: F841
        made.resize((5, 1))

    call = accel.compile(resize)
    for _ in range(2):
        with pytest.raises(ValueError, match="refcheck|references"):
            call(np.ones(3))
    assert facts(call)["compiled"] == 2
