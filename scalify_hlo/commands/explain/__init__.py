"""Compiled programs: the kernels of their matmuls, estimated times, and warnings."""
