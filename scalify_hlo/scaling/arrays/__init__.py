"""Arrays of scales: one scale for each channel or block of a value."""
