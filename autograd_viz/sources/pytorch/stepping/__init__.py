"""PyTorch's engine, one node at a time: schedule.py with calling.py; snapshots.py takes steps back."""
