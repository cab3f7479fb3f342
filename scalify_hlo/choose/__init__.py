"""Choosing a recipe: comparison of recipes on a program, and the sites that cost accuracy."""
