"""Your own test suite, run compiled: ``python -m pytest -p accel.testing.numpy_suite --pyargs package``.

`accel.testing.numpy_suite` is a plugin of pytest, which has to be installed; see docs/testing.md.
"""
