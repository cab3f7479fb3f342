"""Models to export and rewrite, and the demonstration that `make demo` runs."""
