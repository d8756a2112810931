"""The user's own op: torch.autograd.Function."""
