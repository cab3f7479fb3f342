"""`compare`, `blame` and `search`: recipes on a program, and the sites that cost accuracy."""
