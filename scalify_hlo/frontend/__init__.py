"""Rewriting for users of JAX: jax.export.Exported, `scalify`, and scaled state."""
