"""The ops: each a NumPy forward with a table of gradient rules beside it."""
