"""Dropout: while training, some values are zeroed at random and the others scaled up, so that the mean stays."""

from __future__ import annotations

from typing import Any

from .configured import Configured


class _Dropout(Configured):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        super().__init__(p=p, inplace=inplace)

    def options(self) -> dict[str, Any]:
        """p, and whether it is training."""
        return {**super().options(), "training": self.training}

    def extra_repr(self) -> str:
        """Both options, always."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Each value is zeroed with probability p."""

    function = "dropout"


class Dropout1d(_Dropout):
    """Each channel of a sequence is zeroed with probability p."""

    function = "dropout1d"


class Dropout2d(_Dropout):
    """Each channel of an image is zeroed with probability p."""

    function = "dropout2d"


class Dropout3d(_Dropout):
    """Each channel of a volume is zeroed with probability p."""

    function = "dropout3d"


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1, for SELU."""

    function = "alpha_dropout"


class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels."""

    function = "feature_alpha_dropout"
