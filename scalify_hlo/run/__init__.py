"""Running programs: steps on XLA or the interpreter, pairs, and measured inputs."""
