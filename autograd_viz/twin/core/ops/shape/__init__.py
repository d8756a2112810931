"""Shapes and views."""
