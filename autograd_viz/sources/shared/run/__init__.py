"""What a training run keeps: rows, tables, results of modules."""
