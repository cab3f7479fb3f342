"""A rewrite against its original, result by result and value by value."""
