"""Reading and writing files, whole or not at all. No MLIR, no JAX."""
