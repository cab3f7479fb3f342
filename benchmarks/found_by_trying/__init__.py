"""Checks, as a user would make them, of what was found by trying the tool."""
