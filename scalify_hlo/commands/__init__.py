"""The commands, a folder for each: they read programs, and return what they find."""
