"""What a compiler makes of the matmuls of a program: kernels, and an estimate of their time."""
