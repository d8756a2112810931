"""How long the parts of a PyTorch pass take."""
