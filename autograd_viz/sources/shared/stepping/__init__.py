"""A backward pass that runs one node at a time, forwards and back, for any kind of tensor."""
