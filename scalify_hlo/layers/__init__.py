"""Layers that are recognized by what they compute, forward and backward."""
