"""Distributions of real numbers, of fractions whose sum is 1, and of one of two such fractions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.base.scipy_special import special
from ..core.function.function import Function, once_differentiable
from ..core.ops.random.random import normal
from ..core.ops.shape.joining import stack
from ..core.tensor import Array, Generator, Tensor, default_generator, ones, refuse_if, zeros
from ..core.tensor.creation import tensor
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
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
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


def _gamma(alpha: float, source: Generator) -> float:
    """One gamma number, by the method of Marsaglia and Tsang, with PyTorch's use of random numbers."""
    scale = 1.0
    if alpha < 1.0:
        scale *= (1 - float(source.doubles(1)[0])) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        y = 0.0
        while y <= 0:
            x = float(source.normal(1, np.dtype(np.float64))[0])
            y = 1.0 + c * x
        v, u, square = y**3, 1 - float(source.doubles(1)[0]), x * x
        if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _slope(x: Array, alpha: Array, total: Array) -> Array:
    """How a fraction x moves with its alpha, for the same random numbers, over 1 - x: by the distribution function of x."""
    x, alpha, beta = x.astype(np.float64), alpha.astype(np.float64), (total - alpha).astype(np.float64)
    h = 1e-5 * np.maximum(alpha, 1e-3)
    moved = (special.betainc(alpha + h, beta, x) - special.betainc(alpha - h, beta, x)) / (2 * h)
    density = np.exp(special.xlogy(alpha - 1, x) + special.xlog1py(beta - 1, -x) - special.betaln(alpha, beta))
    with np.errstate(all="ignore"):
        slope: Array = np.nan_to_num(-moved / density / (1 - x))
    return slope


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        alpha, least = concentration._data, np.finfo(np.float64).tiny
        drawn = np.array([max(least, _gamma(float(a), default_generator)) for a in alpha.ravel()]).reshape(alpha.shape)
        kind = alpha.dtype.type
        fractions = (drawn / drawn.sum(-1, keepdims=True)).astype(kind)
        x = Tensor(np.clip(fractions, np.finfo(kind).tiny, np.nextafter(kind(1), kind(0))))
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, concentration = ctx.saved_tensors
        alpha = concentration._data
        slope = _slope(x._data, alpha, alpha.sum(-1, keepdims=True)).astype(alpha.dtype)
        return Tensor(slope) * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(Distribution):
    """Fractions whose sum is 1, with densities proportional to the product of ``x ** (concentration - 1)``."""

    arg_constraints = {"concentration": constraints.positive_vector}
    support, has_rsample = constraints.simplex, True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        refuse_if(concentration.dim() < 1, "`concentration` parameter must be at least one-dimensional.", ValueError)
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Gamma numbers divided by their sum. The gradient is that of the distribution function."""
        return _Dirichlet.apply(self.concentration.expand(self._extended(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """Σ (concentration - 1) log value - log B(concentration)."""
        self._check_value(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Any:
        """Log B - (k - total) digamma(total) - Σ (concentration - 1) digamma(concentration)."""
        a, total, k = self.concentration, self.concentration.sum(-1), self.concentration.shape[-1]
        return a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)

    mean: Any = property(lambda self: self.concentration / self.concentration.sum(-1, True), doc="concentration / total.")

    @property
    def variance(self) -> Any:
        """mean (1 - mean) / (total + 1)."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))


class Beta(Distribution):
    """A fraction with density proportional to ``x ** (concentration1 - 1) * (1 - x) ** (concentration0 - 1)``."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support, has_rsample = constraints.unit_interval, True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if isinstance(concentration1, Tensor) or isinstance(concentration0, Tensor):
            both = stack(together(concentration1, concentration0), -1)
        else:
            both = tensor([float(concentration1), float(concentration0)])
        self._both = Dirichlet(both, validate_args)
        super().__init__(both.shape[:-1], (), validate_args)

    concentration1: Any = property(lambda self: self._both.concentration[..., 0], doc="Of x.")
    concentration0: Any = property(lambda self: self._both.concentration[..., 1], doc="Of 1 - x.")

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The first of two fractions."""
        return self._both.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        """The density of both fractions."""
        self._check_value(value)
        return self._both.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        """The entropy of both fractions."""
        return self._both.entropy()

    mean: Any = property(lambda self: self._both.mean[..., 0], doc="concentration1 / total.")
    variance: Any = property(lambda self: self._both.variance[..., 0], doc="mean (1 - mean) / (total + 1).")
