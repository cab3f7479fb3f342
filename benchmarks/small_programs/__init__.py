"""Small programs whose gradients under predicted scales are compared; see `__main__`."""
