"""The backward graph and the backward pass."""
