"""The op that makes the first NaN or infinity of a program."""
