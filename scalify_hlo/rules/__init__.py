"""The rules: how each op acts on data and scales."""
