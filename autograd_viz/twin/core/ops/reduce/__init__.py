"""Reductions, and the order of elements."""
