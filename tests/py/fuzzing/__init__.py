"""Random programs, damaged files, and their judges, as `benchmarks.fuzz` and tests use them."""
