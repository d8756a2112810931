"""The backward graph and the pass through it."""
