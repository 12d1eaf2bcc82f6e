"""What masks have selected is a copy: stores to the array or to the mask in a loop after it do not show."""

import numpy as np
import pytest
from support.differential import check, check_cases, sample

WHOLE = sample((9,))
MASK = WHOLE > 0


def stored_by_element(x):
    keep = x[x > 0]
    for k in range(len(x)):
        x[k] = 0.0
    return keep


def stored_under_the_mask(x, m, n):
    selected = x[m]
    for _ in range(n):
        x[m] += 3
    return selected


def mask_is_stored(x, m, n):
    selected = x[m]
    for i in range(n):
        m[i] = not m[i]
    return len(selected), selected.sum(), selected


def computed(x, m, n):
    selected = x[m] * 2
    for i in range(n):
        m[i] = not m[i]
    selected += 1
    return selected


def put_back(x, n):
    bad = np.abs(x) > 0.5
    saved = x[bad]
    for _ in range(n):
        x[bad] = x.max()
        x -= x.mean()
    x[bad] = saved
    return saved, bad.sum()


def through_a_view(x, m, n):
    selected, backwards = x[m], x[::-1]
    i = 0
    while i < n:
        backwards[i] = -7
        i += 1
    return selected, backwards


def in_a_container(x, m, n):
    kept = {"selected": x[m], "others": [x[~m]]}
    for i in range(n):
        x[i] = i
    return kept


def in_an_outer_loop(x, m, n):
    total, selected = 0.0, x[m]
    for k in range(n):
        selected = x[m]
        for j in range(len(x)):
            x[j] += 1
        total += selected.max()
        m = x > k
    return selected, total


def of_a_part(x, m, n):
    selected = x[1:][m[1:]]
    for i in range(n):
        x[i] *= 2
    return selected, x.sum()


def plain_copy(x, m, n):
    """Not selected, but computed from what the loop stores to."""
    doubled, first = x * 2, x[0]
    for i in range(n):
        x[i] = doubled[i] + first
    return doubled, first, x[m]


@pytest.mark.parametrize(
    "function",
    [stored_under_the_mask, mask_is_stored, computed, through_a_view, in_a_container, in_an_outer_loop, of_a_part, plain_copy],
    ids=lambda f: f.__name__,
)
def test_stores_in_loops(function):
    cases = [(WHOLE, MASK, 5), (WHOLE[::-1], MASK[::-1], 5), (WHOLE, MASK, 0), (WHOLE[::-1], MASK[::-1], 0)]
    check_cases(function, cases, lambda function, case: True)


def test_stores_in_loops_to_the_selected_array():
    check(stored_by_element, WHOLE)
    check(put_back, WHOLE, 3)


def of_columns(x, m, n):
    selected, of_rows = x[:, m], x.T[m]
    for i in range(n):
        x[i] += 2
    return selected, of_rows


def of_planes(x, m, n):
    selected = x[m]
    for i in range(n):
        x[:, i] = m[:, i] * 2
        m[i, 0] = True
    return selected


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::-1], lambda x: x[:, ::-1]])
def test_of_several_axes(layout):
    x = layout(sample((6, 5)))
    check(of_columns, x, np.array([True, False, True, True, False]), 4)
    check(of_planes, x, x > 0, 4)
