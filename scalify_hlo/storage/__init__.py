"""Files, read and written whole or not at all, and child processes. No MLIR, no JAX."""
