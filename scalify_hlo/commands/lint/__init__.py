"""Lints: what is likely to go wrong in low precision, found without a run of the program."""
