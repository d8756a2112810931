"""Checks of the training loop: passes, clipping, optimizers."""
