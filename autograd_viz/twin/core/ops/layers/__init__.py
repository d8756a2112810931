"""Convolution, pooling, padding, normalization, attention."""
