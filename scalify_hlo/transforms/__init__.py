"""Edits of a module that depend on no scale and on no recipe."""
