"""A training run over time: its numbers, what is odd in them, and its picture."""
