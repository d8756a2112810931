"""Independent: some dimensions of a batch become one event. Its log_prob is the sum over them."""

from __future__ import annotations

from typing import Any

from .distribution import Distribution


class Independent(Distribution):
    """The last dimensions of a batch of `base_distribution` as one event."""

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        base_dist = base_distribution
        shape = (*base_dist.batch_shape, *base_dist.event_shape)
        if reinterpreted_batch_ndims > len(base_dist.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(base_dist.batch_shape)}"
            )
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
