"""A module for test_pickle: functions that are pickled by reference."""

import accel


@accel.compile
def decorated(x):
    return x * 2 + 1


def plain(x):
    return x * 3


assigned = accel.compile(plain)


class Holder:
    @accel.compile
    def method(self, x):
        return x + 1
