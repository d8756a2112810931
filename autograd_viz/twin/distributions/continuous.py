"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any

from ..core.ops.random.random import normal
from ..core.tensor.factories import ones, zeros
from . import constraints
from .distribution import Distribution, together


def standard_normal(shape: Any, like: Any) -> Any:
    """Normal numbers with mean 0 and standard deviation 1."""
    return normal(zeros(shape, dtype=like.dtype), ones(shape, dtype=like.dtype))


class Normal(Distribution):
    """The normal distribution with mean `loc` and standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.real, True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random values, without a gradient."""
        shape = self._extended(sample_shape)
        return normal(self.loc.detach().expand(shape), self.scale.detach().expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + scale * a standard normal number."""
        return self.loc + standard_normal(self._extended(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Any) -> Any:
        """-(value - loc)² / 2 scale² - log scale - log √2π."""
        self._check_value(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self) -> Any:
        """1/2 + log √2π + log scale."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    mean: Any = property(lambda self: self.loc, doc="Loc.")
    stddev: Any = property(lambda self: self.scale, doc="Scale.")
    variance: Any = property(lambda self: self.scale.pow(2), doc="scale².")


class MultivariateNormal(Distribution):
    """The multivariate normal distribution: ``loc + scale_tril @ z`` with z standard normal. The covariance may be given."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support, has_rsample = constraints.real_vector, True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, *, scale_tril: Any = None, validate_args: bool | None = None
    ) -> None:
        if (covariance_matrix is None) == (scale_tril is None):
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        self.loc = loc
        if scale_tril is None:
            self.covariance_matrix = covariance_matrix
        else:
            self.scale_tril = scale_tril
        super().__init__(loc.shape[:-1], loc.shape[-1:], validate_args)
        self._factor = covariance_matrix.cholesky() if scale_tril is None else scale_tril

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + factor @ standard normal numbers."""
        z = standard_normal(self._extended(sample_shape), self.loc)
        return self.loc + (self._factor @ z.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Any) -> Any:
        """-(|factor⁻¹ (value - loc)|² + k log 2π) / 2 - log det factor."""
        self._check_value(value)
        whitened = (value - self.loc).unsqueeze(-1).triangular_solve(self._factor, upper=False)[0].squeeze(-1)
        log_det = self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + whitened.pow(2).sum(-1)) - log_det

    def entropy(self) -> Any:
        """k (1 + log 2π) / 2 + log det factor."""
        log_det = self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return 0.5 * self.event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det

    mean: Any = property(lambda self: self.loc, doc="Loc.")
    variance: Any = property(lambda self: self._factor.pow(2).sum(-1), doc="The diagonal of the covariance.")


class Uniform(Distribution):
    """The uniform distribution on [low, high)."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = together(low, high)
        super().__init__(self.low.shape, (), validate_args)

    arg_constraints: Any = property(
        lambda self: {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)},
        doc="Low lies below high.",
    )
    support: Any = property(lambda self: constraints.interval(self.low, self.high), doc="From low to high.")

    def rsample(self, sample_shape: Any = ()) -> Any:
        """low + (high - low) * a number from [0, 1)."""
        return self.low + zeros(self._extended(sample_shape), dtype=self.low.dtype).uniform_() * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """-log(high - low) inside the interval, -inf outside."""
        self._check_value(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def entropy(self) -> Any:
        """log(high - low)."""
        return (self.high - self.low).log()

    mean: Any = property(lambda self: (self.high + self.low) / 2, doc="In the middle.")
    variance: Any = property(lambda self: (self.high - self.low).pow(2) / 12, doc="(high - low)² / 12.")


class Exponential(Distribution):
    """The exponential distribution: waiting times between events, with `rate` events per unit of time."""

    arg_constraints = {"rate": constraints.positive}
    support, has_rsample = constraints.nonnegative, True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """A standard exponential number / rate."""
        return zeros(self._extended(sample_shape), dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        """log rate - rate * value."""
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def entropy(self) -> Any:
        """1 - log rate."""
        return 1.0 - self.rate.log()

    mean: Any = property(lambda self: self.rate.reciprocal(), doc="1 / rate.")
    variance: Any = property(lambda self: self.rate.pow(-2), doc="1 / rate².")
