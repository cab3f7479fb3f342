"""Figures that the README promises, one command for each; see README.md in this folder."""
