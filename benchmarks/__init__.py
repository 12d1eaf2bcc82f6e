"""accel against NumPy, the other compilers and hand-written C++: `python -m benchmarks --help`."""
