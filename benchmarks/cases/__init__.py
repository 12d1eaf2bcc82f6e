"""One module per subject; each has a list CASES."""
