"""Records PyTorch programs: one forward pass (record.py), or all that runs from now on (watch.py)."""
