"""Block scales: one scale for each block of numbers along the contracted dimension of a matmul."""
