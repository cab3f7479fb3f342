"""Running programs: steps on XLA or the interpreter, comparison, calibration, measured inputs."""
