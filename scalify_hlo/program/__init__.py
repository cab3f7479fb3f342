"""Programs: read from all forms, rewritten with their arguments and results, and written."""
