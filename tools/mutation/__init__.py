"""Mutation testing: cosmic-ray makes the mutants, and each meets the tests that cover its line."""
