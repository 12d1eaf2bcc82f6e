"""Sets of cases that cover pairs of parameters instead of their full product."""


def pairs(first, second, *others):
    """Every pair of `first` and `second`; case (i, j) has item (i + j) % length of each sequence in `others`. A sequence that
    is not longer than `first` and `second` is paired completely with both."""
    cases = [(i, j) for i in range(len(first)) for j in range(len(second))]
    return [(first[i], second[j], *(other[(i + j) % len(other)] for other in others)) for i, j in cases]
