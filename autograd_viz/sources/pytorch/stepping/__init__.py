"""PyTorch's engine, one node at a time: schedule.py with user_function.py and graph_task.py; snapshots.py takes steps back."""
