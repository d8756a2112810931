"""Constraints: the allowed parameters and values of a distribution."""

from __future__ import annotations

from typing import Any


class Constraint:
    """A set of allowed values. `check` makes of a tensor a bool per value; its last `dims` dimensions are one value."""

    def __init__(self, name: str, check: Any, dims: int = 0) -> None:
        self.name, self.check, self.event_dim = name, check, dims

    def __repr__(self) -> str:
        return self.name


def interval(low: Any, high: Any) -> Constraint:
    """From low to high, both included."""
    return Constraint(f"Interval(lower_bound={low}, upper_bound={high})", lambda x: (low <= x) & (x <= high))


def less_than(high: Any) -> Constraint:
    """Below high."""
    return Constraint(f"LessThan(upper_bound={high})", lambda x: x < high)


def greater_than(low: Any) -> Constraint:
    """Above low."""
    return Constraint(f"GreaterThan(lower_bound={low})", lambda x: x > low)


def integer_interval(low: int, high: int) -> Constraint:
    """Whole numbers from low to high, both included."""
    name = f"IntegerInterval(lower_bound={low}, upper_bound={high})"
    return Constraint(name, lambda x: (x % 1 == 0) & (low <= x) & (x <= high))


real = Constraint("Real()", lambda x: x == x)  # noqa: PLR0124 -- nan is not itself
real_vector = Constraint("IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1), 1)  # noqa: PLR0124
positive = greater_than(0.0)
positive_vector = Constraint("IndependentConstraint(GreaterThan(lower_bound=0.0), 1)", lambda x: (x > 0).all(-1), 1)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1))
unit_interval = interval(0.0, 1.0)
simplex = Constraint("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1)
lower_cholesky = Constraint(
    "LowerCholesky()", lambda x: (x.tril() == x).flatten(-2).all(-1) & (x.diagonal(dim1=-2, dim2=-1) > 0).all(-1), 2
)
positive_definite = Constraint(
    "PositiveDefinite()", lambda x: (x - x.mT).abs().flatten(-2).max(-1)[0].lt(1e-5) & x.detach().det().gt(0), 2
)
