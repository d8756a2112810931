"""Checks of what memory is kept."""
