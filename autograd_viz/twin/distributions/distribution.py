"""Distribution: a batch of parameters, and values called events; Independent: a part of the batch as one event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from ..core.base.grad_mode import no_grad
from ..core.ops.shape.views import broadcast_tensors
from ..core.tensor import Size, Tensor
from ..core.tensor.creation import tensor
from .constraints import Constraint


class Distribution:
    """The base class of all distributions. A subclass defines `log_prob`, and `rsample` or `sample`."""

    arg_constraints: dict[str, Constraint] = {}  # of each parameter, in the order of printing
    support: Constraint  # of the values
    has_rsample = False
    _validates = True

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self.batch_shape, self.event_shape = Size(batch_shape), Size(event_shape)  # of the distributions, and of one value
        if validate_args is not None:
            self._validates = validate_args
        for name, constraint in self.arg_constraints.items() if self._validates else ():
            value = self.__dict__.get(name)
            if value is not None and not constraint.check(value).all():
                self._refuse(f"parameter {name}", value, f"of distribution {self!r} to satisfy the constraint {constraint!r}")

    @staticmethod
    def _refuse(what: str, value: Any, wanted: str) -> NoReturn:
        given = f"{type(value).__name__} of shape {tuple(value.shape)}"
        raise ValueError(f"Expected {what} ({given}) {wanted}, but found invalid values:\n{value}")

    def _check_value(self, value: Tensor) -> None:
        """Refuse a value outside the support."""
        if self._validates and not self.support.check(value).all():
            wanted = f"to be within the support ({self.support!r}) of the distribution {self!r}"
            self._refuse("value argument", value, wanted)

    def _extended(self, sample_shape: Iterable[int]) -> Size:
        """The shape of a sample."""
        return Size((*sample_shape, *self.batch_shape, *self.event_shape))

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random values, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Random values as a function of the parameters, so that gradients flow through them."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability, at `value`."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean of the values."""
        raise NotImplementedError

    @property
    def variance(self) -> Any:
        """The variance of the values."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    def __repr__(self) -> str:
        given = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        listed = ", ".join(f"{n}: {p if p.numel() == 1 else p.size()}" for n, p in given.items())
        return f"{type(self).__name__}({listed})"


def together(*parameters: Any) -> list[Any]:
    """Numbers and tensors as tensors, broadcast to one shape."""
    return list(broadcast_tensors(*(p if isinstance(p, Tensor) else tensor(float(p)) for p in parameters)))


class Independent(Distribution):
    """The last dimensions of a batch of `base_distribution` as one event."""

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        base_dist = base_distribution
        shape = (*base_dist.batch_shape, *base_dist.event_shape)
        if reinterpreted_batch_ndims > len(base_dist.batch_shape):
            said = "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape)"
            raise ValueError(f"{said}, actual {reinterpreted_batch_ndims} vs {len(base_dist.batch_shape)}")
        at = len(base_dist.batch_shape) - reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_dist, reinterpreted_batch_ndims
        self.has_rsample = base_dist.has_rsample
        super().__init__(shape[:at], shape[at:], validate_args)

    support: Any = property(lambda self: self.base_dist.support, doc="That of what it is made of.")

    def _summed(self, values: Any) -> Any:
        dims = tuple(range(-self.reinterpreted_batch_ndims, 0))
        return values.sum(dims) if dims else values

    def sample(self, sample_shape: Any = ()) -> Any:
        """Random values, without a gradient."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Random values as a function of the parameters."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The sum over the event."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        """The sum over the event."""
        return self._summed(self.base_dist.entropy())

    mean: Any = property(lambda self: self.base_dist.mean, doc="The mean of the values.")
    variance: Any = property(lambda self: self.base_dist.variance, doc="The variance of the values.")

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
