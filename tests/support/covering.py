"""Sets of cases that cover a product of parameters without being all of it."""


def pairs(first, second, *others):
    """Each of `first` with each of `second`. The others take turns along both: each of their values meets each of these."""
    cases = [(i, j) for i in range(len(first)) for j in range(len(second))]
    return [(first[i], second[j], *(other[(i + j) % len(other)] for other in others)) for i, j in cases]
