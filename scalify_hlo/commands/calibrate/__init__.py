"""Profiles: the matmul operands of a program, measured on inputs."""
