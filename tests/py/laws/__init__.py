"""Programs with a meaning of their own, and the laws that each rewrite of them has to keep."""
