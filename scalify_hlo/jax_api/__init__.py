"""Types and primitives for models in JAX: ScaledArray, markers, custom rules, pytree nodes."""
