"""Analyses of a program: roles of values, matmuls, state and layers. They edit nothing.

Roles are read off the program: its data flow, and the name stacks that jax leaves in locations
where they are there.
"""
