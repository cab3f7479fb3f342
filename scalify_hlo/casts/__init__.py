"""Casts to low precision: the values that a recipe casts, and the scales of the casts."""
