"""The size and structure of the sources; new names and joined lines do not change them."""
