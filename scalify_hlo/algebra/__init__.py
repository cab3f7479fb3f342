"""Scales, predicted sizes and number formats, and searches of graphs: no MLIR, no JAX."""
