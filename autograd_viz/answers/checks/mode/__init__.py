"""Checks of the mode in which modules run."""
