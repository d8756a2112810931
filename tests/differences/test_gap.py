"""How far two arrays are apart: by their elements, or by what a document tells of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from autograd_viz.pictures.differences.gap import Tolerance, gap_of
from autograd_viz.sources.shared.values import value_of

FLOATS = ("float32", "float32")


def gap(a: Any, b: Any, dtypes: tuple[str, str] = FLOATS, **options: float) -> Any:
    return gap_of(np.asarray(a, np.float64), np.asarray(b, np.float64), dtypes, Tolerance(**options))


def test_the_relative_error_is_that_of_the_norms() -> None:
    found = gap([3.0, 4.0], [3.0, 5.0])
    assert (found.relative, found.largest) == (1 / math.sqrt(34), 1.0)
    assert found.is_beyond and not found.is_same


def test_the_tolerance_is_the_looser_of_two_dtypes() -> None:
    assert gap([1.0], [1.01]).is_beyond
    assert not gap([1.0], [1.01], ("float32", "bfloat16")).is_beyond
    assert not gap([1.0], [1.01], rtol=0.1).is_beyond
    assert gap([1.0], [1.01], ("bfloat16", "bfloat16"), rtol=0.0).is_beyond


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_the_tolerances_are_those_of_assert_close(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    rtol, atol = torch.testing._comparison.default_tolerances(getattr(torch, dtype))
    assert Tolerance().of(dtype) == (rtol, atol)


def test_nan_at_the_same_place_is_no_difference() -> None:
    assert gap([math.nan, 1.0, math.inf], [math.nan, 1.0, math.inf]).is_same
    found = gap([math.nan, 1.0], [1.0, 1.0])
    assert found.is_beyond and math.isinf(found.relative)


def test_other_shapes_are_told() -> None:
    assert gap([1.0], [1.0, 2.0]).shapes == ((1,), (2,))


def test_documents_tell_a_lower_bound_of_large_arrays() -> None:
    a = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32)
    b = a.copy()
    b[3, 4] += 100
    told = gap_of(value_of(a), value_of(b), FLOATS, Tolerance())
    exact = gap(a, b)
    assert told is not None and told.is_beyond and not told.is_told
    assert 0.5 * exact.relative < told.relative <= exact.relative * 1.001
    same = gap_of(value_of(a), value_of(a.copy()), FLOATS, Tolerance())
    assert same is not None and same.is_same
