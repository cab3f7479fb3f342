"""Profiles of measured tensors, their JSON form, and histograms of magnitudes. No MLIR, no JAX."""
