"""The ranks of a PyTorch job: what each tells, gathered."""
