"""What a PyTorch node has saved is read without running code of the user's, also where PyTorch does not tell of it before."""

from __future__ import annotations

import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils.checkpoint import checkpoint  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.reading import saved  # noqa: E402

from ..torch_features import leaf  # noqa: E402
from ..torch_functions import Once, TwoOutputs  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True, params=["as it is", "untold"])
def _release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As PyTorch is here, and as it was before saved tensors told of their hooks."""
    if request.param == "untold":
        monkeypatch.setattr(saved, "_tells_hooks", lambda raw: False)


def test_no_hook_of_a_saved_tensor_runs() -> None:
    ran: list[str] = []

    def unpack(t: Any) -> Any:
        ran.append("unpack")
        return t

    x = leaf(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), unpack):
        product = x.sin() * x
        both, _ = TwoOutputs.apply(product, 2.0, x)
    av.show((both * x).sum())
    assert {(k.state, k.value) for node in (product, both) for k in saved.saved_of(node.grad_fn)} == {("kept", None)}
    assert ran == []
    both.sum().backward()
    assert ran


def test_a_checkpoint_is_not_computed_anew() -> None:
    calls: list[int] = []

    def part(v: Any) -> Any:
        calls.append(1)
        return v.sin().exp()

    av.show(checkpoint(part, leaf(3), use_reentrant=False).sum())
    assert len(calls) == 1


def test_without_hooks_the_values_are_there() -> None:
    x, w = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
    product, own = x * w, Once.apply(x, w)
    assert [k.value.tolist() for k in saved.saved_of(product.grad_fn)] == [[2.0] * 3, [1.0] * 3]
    assert [k.value.tolist() for k in saved.saved_of(own.grad_fn)][:2] == [[1.0] * 3, [2.0] * 3]
    assert [k.value for k in saved.saved_of(product.sum(0, keepdim=True).grad_fn)][:2] == [(0,), True]


def test_a_profiler_of_the_users_stays() -> None:
    def look(*_: Any) -> None:
        pass

    node = (leaf(3) * leaf(3)).grad_fn
    sys.setprofile(look)
    try:
        states = [k.state for k in saved.saved_of(node)]
        assert sys.getprofile() is look
    finally:
        sys.setprofile(None)
    assert states == ["kept", "kept"]
