"""What the twin's sources and PyTorch's share: names, lines, values, storages."""
