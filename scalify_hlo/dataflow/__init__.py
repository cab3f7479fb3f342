"""Analyses of a program: data flow, roles of values, matmuls and state. They edit nothing."""
