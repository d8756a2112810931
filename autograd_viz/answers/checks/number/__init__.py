"""Checks of the numbers of a pass."""
