"""Scripts that write and run the pages of the documentation."""
