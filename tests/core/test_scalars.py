"""Numbers that are written into tensors: those that do not fit the type are refused in PyTorch's words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import autograd_viz as av

TYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "bool"]
NUMBERS = [
    300, -1, -200, -300, 1e5, -1e9, 1e300, math.inf, math.nan, 2**40, 1.7, 1 + 2j, 2**63 - 1, 65504.0, 65505.0, 3.4028234e38,
    3.4028236e38, True,
]  # fmt: skip
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "full": lambda m, kind, n: m.full((2,), n, dtype=kind),
    "fill_": lambda m, kind, n: m.zeros(2, dtype=kind).fill_(n),
    "masked_fill": lambda m, kind, n: m.zeros(2, dtype=kind).masked_fill(m.tensor([True, False]), n),
    "new_full": lambda m, kind, n: m.zeros(2, dtype=kind).new_full((1, 2), n),
}


def outcome(m: Any, write: str, kind: str, number: Any) -> str:
    try:
        return repr(WRITES[write](m, getattr(m, kind), number).tolist())
    except RuntimeError as error:
        return str(error)


@pytest.mark.torch
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", WRITES)
def test_a_number_is_written_or_refused_as_in_pytorch(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    for number in NUMBERS:
        assert outcome(av, name, kind, number) == outcome(torch, name, kind, number), number


def test_an_element_takes_no_number_that_does_not_fit() -> None:
    x = av.zeros(2, dtype=av.float16)
    with pytest.raises(RuntimeError, match="value cannot be converted to type c10::Half without overflow"):
        x[0] = -1e9
    x[0], x[1] = -math.inf, 65504
    assert x.tolist() == [-math.inf, 65504.0]


@pytest.mark.parametrize(("kind", "least", "most"), [("int8", -128, 127), ("uint8", -255, 255), ("int64", -(2**63), 2**63 - 1)])
def test_the_least_and_the_most_of_a_kind_fit_and_the_next_do_not(kind: str, least: int, most: int) -> None:
    x = av.zeros(1, dtype=getattr(av, kind))
    for number in (least, most):
        x.fill_(number)
        assert (int(x) - number) % 256 == 0
    for number in (least - 1, most + 1):
        with pytest.raises(RuntimeError):
            x.fill_(number)


def test_what_is_too_large_for_a_new_tensor_becomes_inf_without_a_warning() -> None:
    assert av.tensor([1e300, -1e300]).tolist() == [math.inf, -math.inf]
    assert av.tensor([1e5], dtype=av.float16).item() == math.inf


@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_without_an_end_have_too_many_dimensions(kind: type) -> None:
    """PyTorch's words; a list that holds itself has no end."""
    deep: Any = 1.0
    for _ in range(64):
        deep = kind([deep])
    assert av.tensor(deep).ndim == 64
    for _ in range(100_000):
        deep = kind([deep])
    itself: list[Any] = []
    itself += [itself, itself, itself]
    for endless in (deep, kind(itself)):
        for make in (av.tensor, av.as_tensor, av.Tensor):
            with pytest.raises(ValueError, match=r"too many dimensions '(list|tuple)'"):
                make(endless)
