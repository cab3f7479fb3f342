"""Scale propagation through a module: its boundary, its functions, and where it may stop."""
