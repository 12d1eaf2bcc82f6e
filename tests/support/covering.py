"""Sets of cases that cover a product of parameters without being all of it."""


def pairs(first, second, *others):
    """Each of `first` with each of `second`; case (i, j) has value (i + j) % length of each of `others`. A sequence of `others`
    that is no longer than `first` and `second` has each of its values with each of theirs."""
    cases = [(i, j) for i in range(len(first)) for j in range(len(second))]
    return [(first[i], second[j], *(other[(i + j) % len(other)] for other in others)) for i, j in cases]
