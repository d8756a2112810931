"""A user's Function is seen by its call, and, where PyTorch makes that in compiled code, by its `forward`."""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils.checkpoint import checkpoint  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.reading import calls  # noqa: E402
from autograd_viz.sources.pytorch.reading.graph import TorchGraph  # noqa: E402

from ..torch_features import FEATURES, leaf  # noqa: E402
from ..torch_functions import NotMaterialized, TwoOutputs  # noqa: E402

pytestmark = pytest.mark.torch
FUNCTIONS = [name for name in FEATURES if name.startswith("function_")]


class Layer(torch.nn.Module):
    """Has a method of the same name."""

    def forward(self, x: Any) -> Any:
        return TwoOutputs.apply(x, 2.0, x)[1]


def _code(function: Any) -> CodeType:
    return inspect.unwrap(function).__code__  # type: ignore[no-any-return]


def test_a_forward_is_known_by_its_code() -> None:
    assert calls.function_name(_code(TwoOutputs.forward)) == "TwoOutputs"
    assert calls.function_name(_code(NotMaterialized.forward)) == "NotMaterialized"  # decorated
    assert calls.function_name(_code(Layer.forward)) == ""


def _ops(name: str) -> list[Any]:
    torch.manual_seed(0)
    forward, _ = FEATURES[name]()
    with av.record():
        root = forward()
    return list(TorchGraph([root], {}).document.ops)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_is_recorded_without_a_frame_of_the_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _ops(name)
    monkeypatch.setattr(calls, "APPLY", None)
    found = _ops(name)
    assert found == expected
    assert not any(o.reconstructed for o in found)


def test_a_function_inside_a_module_and_a_function() -> None:
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return TwoOutputs.apply(a, 3.0, a)[0]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    net = torch.nn.Sequential(Layer())
    with av.record(net):
        loss = net(Outer.apply(leaf(3))).sum()
    ops = TorchGraph([loss], {}).document.ops
    assert [(o.name, o.module) for o in ops] == [("Outer", ""), ("TwoOutputs", "0"), ("Sum", "")]
    assert [len(o.inputs) for o in ops] == [1, 2, 1]


def test_a_reentrant_checkpoint_has_its_module_without_a_frame_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "APPLY", None)
    net = torch.nn.Sequential(torch.nn.Linear(3, 3))
    with av.record(net):
        loss = checkpoint(net[0], leaf(2, 3), use_reentrant=True).sum()
    assert [o.module for o in TorchGraph([loss], {}).document.ops] == ["0", ""]
