"""Analyses of a program: roles of values, matmuls, state and layers. They edit nothing.

Roles follow from data flow, and from the name stacks that jax writes into locations, if the program
has them.
"""
