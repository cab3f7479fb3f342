"""Reading and writing bytes: files, mapped sources, .npz archives, UTF-8. No MLIR, no JAX."""
