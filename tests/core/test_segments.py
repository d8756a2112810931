"""segment_reduce, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

VALUES = [1.0, 3.0, 3.0, 2.0, float("nan"), 5.0, 0.0, 4.0]


@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_empty_segments_ties_and_nan_are_as_in_pytorch(reduce: str, initial: float | None) -> None:
    def reduced(m: Any) -> Any:
        x = m.tensor(VALUES, requires_grad=True)
        out = m.segment_reduce(x, reduce, lengths=m.tensor([3, 0, 2, 1, 2]), initial=initial)
        out.sum().backward()
        return out.tolist(), x.grad.tolist()

    for mine, theirs in zip(reduced(av), reduced(torch), strict=True):
        np.testing.assert_allclose(mine, theirs)


@pytest.mark.parametrize(
    "refused",
    [
        lambda m, x: m.segment_reduce(x, "abc", lengths=m.tensor([8])),
        lambda m, x: m.segment_reduce(x, "sum"),
        lambda m, x: m.segment_reduce(x, "sum", lengths=m.tensor([3, 2])),
        lambda m, x: m.segment_reduce(x, "sum", lengths=m.tensor([9, -1])),
        lambda m, x: m.segment_reduce(x.reshape(2, 4), "sum", lengths=m.tensor([4]), axis=1),
        lambda m, x: m.autograd.grad(
            m.autograd.grad(m.segment_reduce(x, "sum", lengths=m.tensor([8])).pow(2), x, create_graph=True)[0].sum(), x
        ),
    ],
)
def test_bad_segments_are_refused_in_pytorchs_words(refused: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(RuntimeError) as theirs:
        refused(torch, torch.tensor(VALUES, requires_grad=True))
    with pytest.raises(RuntimeError) as ours:
        refused(av, av.tensor(VALUES, requires_grad=True))
    assert str(ours.value) == str(theirs.value).split("\nException")[0]
