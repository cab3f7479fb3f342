"""The figures of docs/results.md and their bounds, one command for each; see README.md here."""
