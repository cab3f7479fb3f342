"""Recipes: their options, their TOML form, and the presets."""
