"""Targets: descriptions of devices, compilation for them, and estimates of compiled programs."""
