"""Running programs: the interpreter, comparison of results, calibration, measured inputs."""
