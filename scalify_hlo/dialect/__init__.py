"""Attributes and types that the passes write into a module and read from it."""
