"""Program formats: MLIR text, bytecode, portable artifacts, jax.export files."""
