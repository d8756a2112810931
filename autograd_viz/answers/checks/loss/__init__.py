"""Checks of what a loss is given."""
