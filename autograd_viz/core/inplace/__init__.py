"""Changing tensors in place, and what that does to views and their bases."""
