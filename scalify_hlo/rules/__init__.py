"""The rule of each op, the scale rewriter that applies rules, and predicted sizes."""
