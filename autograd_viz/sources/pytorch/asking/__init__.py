"""Questions about PyTorch tensors: the graph that is meant, what was recorded, the last pass run again."""
