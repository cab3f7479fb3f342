"""Scales, predicted sizes and number formats: arithmetic without MLIR and JAX."""
