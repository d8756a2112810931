"""What is said of a large tensor is the same wherever it lies."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from autograd_viz.sources.pytorch.reading.values import (  # noqa: E402
    as_array,
    summary_on_device,
    value_of,
)
from autograd_viz.sources.shared.values import summary_of  # noqa: E402

pytestmark = pytest.mark.torch
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def tensors() -> dict[str, Any]:
    torch.manual_seed(0)
    return {
        "matrix": torch.randn(20, 30),
        "line": torch.randn(100).double(),
        "blocks of other sizes": torch.randn(3, 9, 11),
        "few rows": torch.randn(2, 70),
        "nan and infinities": torch.randn(12, 12).masked_fill(torch.eye(12).bool(), float("nan")) / torch.eye(12).neg().add(1),
        "nothing finite": torch.full((9, 9), float("inf")),
        "whole numbers": torch.arange(200).reshape(20, 10),
        "truth": torch.rand(10, 10) > 0.5,
        "half": torch.randn(10, 10).half(),
        "complex": torch.randn(10, 10, dtype=torch.complex64),
    }


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", list(tensors()))
def test_it_is_numpys_summary(name: str, device: str) -> None:
    t = tensors()[name]
    ours, expected = summary_on_device(t.to(device)), summary_of(as_array(t))
    for field in ("least", "most", "mean", "norm", "thumbnail"):
        assert getattr(ours, field) == pytest.approx(getattr(expected, field), rel=1e-5, abs=1e-6, nan_ok=True), field
    counts = ("zeros", "nans", "infs", "rows", "columns")
    assert [getattr(ours, c) for c in counts] == [getattr(expected, c) for c in counts]


@pytest.mark.parametrize("name", [n for n in dir(torch) if n.startswith("float8_")])
def test_elements_of_one_byte_can_be_read(name: str) -> None:
    t = torch.tensor([1.0, 2.0, 0.5]).to(getattr(torch, name))
    assert value_of(t).numbers == (1.0, 2.0, 0.5)
    assert value_of(t).dtype == name
