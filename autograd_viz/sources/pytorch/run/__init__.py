"""A PyTorch model watched while it is trained."""
