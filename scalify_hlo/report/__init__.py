"""The report of a rewrite."""
