"""Two passes side by side: which of their tensors belong together, and where they differ first."""
