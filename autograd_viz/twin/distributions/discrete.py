"""Distributions of whole numbers, given by probabilities or by logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.ops.loss.loss_classes import binary_cross_entropy_with_logits_of as cross_entropy
from ..core.ops.random.random import bernoulli, multinomial
from ..core.ops.shape.views import broadcast_tensors
from ..core.tensor import Size, refuse_if
from . import constraints
from .distribution import Distribution, together


def _away_from_the_ends(probs: Any) -> Any:
    """Probabilities, clamped so that their logarithm is finite."""
    eps = float(np.finfo(probs._data.dtype).eps)
    return probs.clamp(min=eps, max=1 - eps)


class _ByProbabilities(Distribution):
    """Given by `probs` or by `logits`. The missing one is computed at first use."""

    def __getattr__(self, name: str) -> Any:
        if name not in ("probs", "logits"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = self._probs_of_logits() if name == "probs" else self._logits_of_probs()
        return value

    _probs_of_logits: Callable[[], Any]
    _logits_of_probs: Callable[[], Any]


def _given(probs: Any, logits: Any) -> Any:
    """The one of both that is not None."""
    refuse_if((probs is None) == (logits is None), "Either `probs` or `logits` must be specified, but not both.", ValueError)
    return probs if logits is None else logits


class Categorical(_ByProbabilities):
    """The number k with probability ``probs[..., k]``."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        given = _given(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{'probs' if logits is None else 'logits'}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._count = int(given.shape[-1])
        super().__init__(given.shape[:-1], (), validate_args)

    def _logits_of_probs(self) -> Any:
        return _away_from_the_ends(self.probs).log()

    def _probs_of_logits(self) -> Any:
        return self.logits.softmax(-1)

    support: Any = property(
        lambda self: constraints.integer_interval(0, self._count - 1), doc="0 to the number of categories - 1."
    )

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random category numbers."""
        rows = self.probs.detach().reshape(-1, self._count)
        return multinomial(rows, Size(sample_shape).numel(), True).T.reshape(self._extended(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logit of the category."""
        self._check_value(value)
        index, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """-Σ p log p."""
        least = float(np.finfo(self.logits._data.dtype).min)
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)


class Bernoulli(_ByProbabilities):
    """1 with probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        (given,) = together(_given(probs, logits))
        setattr(self, "probs" if logits is None else "logits", given)
        super().__init__(given.shape, (), validate_args)

    def _logits_of_probs(self) -> Any:
        inside = _away_from_the_ends(self.probs)
        return inside.log() - (-inside).log1p()

    def _probs_of_logits(self) -> Any:
        return self.logits.sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random zeros and ones."""
        return bernoulli(self.probs.detach().expand(self._extended(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of 0 or 1."""
        self._check_value(value)
        logits, value = broadcast_tensors(self.logits, value)
        return -cross_entropy(logits, value, reduction="none")

    def entropy(self) -> Any:
        """-p log p - (1 - p) log(1 - p)."""
        return cross_entropy(self.logits, self.probs, reduction="none")

    mean: Any = property(lambda self: self.probs, doc="Probs.")
    variance: Any = property(lambda self: self.probs * (1 - self.probs), doc="p (1 - p).")
