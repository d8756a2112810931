"""Dropout: in training, random values become 0, and the others are scaled up so that the mean stays the same."""
# fmt: off
# tables of layers: the function and a docstring

from __future__ import annotations

from typing import Any

from .configured import Configured, layer

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


@layer()
class _Dropout(Configured):
    p: float = 0.5
    inplace: bool = False
    shown = ("p", "inplace")

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def options(self) -> dict[str, Any]:
        """p, and the training mode."""
        return {**super().options(), "training": self.training}

@layer("dropout")
class Dropout(_Dropout):
    """Each value becomes 0 with probability p."""

@layer("dropout1d")
class Dropout1d(_Dropout):
    """Each channel of a sequence becomes 0 with probability p."""

@layer("dropout2d")
class Dropout2d(_Dropout):
    """Each channel of an image becomes 0 with probability p."""

@layer("dropout3d")
class Dropout3d(_Dropout):
    """Each channel of a volume becomes 0 with probability p."""

@layer("alpha_dropout")
class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1, for SELU."""

@layer("feature_alpha_dropout")
class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels."""
