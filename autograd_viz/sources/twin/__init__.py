"""Graphs and passes of the twin's tensors."""
