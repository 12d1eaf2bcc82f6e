"""accel on one GPU against hand-written kernels and other libraries: `python -m benchmarks --device cuda --help`."""
