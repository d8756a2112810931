"""Checks of paths to the loss."""
