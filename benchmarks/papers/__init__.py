"""The experiments of the papers from which recipes come, at sizes for a CPU."""
