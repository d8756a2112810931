"""A device of our own for PyTorch, and programs that run on it."""
