"""Statistics of all values of a program, and of formats for the operands of its matmuls."""
