"""A stepped pass of PyTorch's ends like `loss.backward()`: the same order, the same bits; nothing of the user's is touched."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.reading.graph import TorchGraph  # noqa: E402
from autograd_viz.sources.pytorch.reading.nodes import edge_of, is_accumulate, reach  # noqa: E402
from autograd_viz.sources.pytorch.stepping.node_pass import TorchPass  # noqa: E402
from autograd_viz.stepper import Stepper  # noqa: E402

from ..torch_features import FEATURES, NEEDS  # noqa: E402
from ..torch_functions import with_backward  # noqa: E402
from ..torch_hooked import HOOKED, SAID  # noqa: E402
from ..torch_models import MODELS, VERSION  # noqa: E402

pytestmark = pytest.mark.torch
PROGRAMS = {**MODELS, **FEATURES, **HOOKED}
LARGE = {"gpt2_twelve_layers"}  # run once


def _param(name: str) -> Any:
    needs = NEEDS.get(name, VERSION)
    return pytest.param(name, marks=pytest.mark.skipif(needs > VERSION, reason=f"needs PyTorch {needs}, this is {VERSION}"))


every_program = pytest.mark.parametrize("name", [_param(name) for name in PROGRAMS])
every_small_program = pytest.mark.parametrize("name", [_param(name) for name in PROGRAMS if name not in LARGE])


class Run:
    """A program after its forward pass."""

    def __init__(self, name: str, recorded: bool = False) -> None:
        SAID.clear()
        torch.manual_seed(0)
        self.forward, self._leaves = PROGRAMS[name]()
        torch.manual_seed(1)
        found = self._ran(recorded)
        self.root, self.gradient = found if isinstance(found, tuple) else (found, None)

    def _ran(self, recorded: bool) -> Any:
        if not recorded:
            return self.forward()
        with av.record():
            return self.forward()

    @property
    def leaves(self) -> list[Any]:
        """Tensors whose grad counts, those that the forward pass has made too."""
        return [t for some in self._leaves for t in (some if isinstance(some, list) else [some])]

    def grads(self) -> list[Any]:
        return [_bits(t.grad) for t in self.leaves]

    def stepper(self) -> tuple[Stepper, TorchGraph]:
        graph = TorchGraph([self.root], {})
        return Stepper(graph.document, TorchPass(graph, self.root, self.gradient, None, False)), graph


def _bits(t: Any) -> Any:
    """Everything that can be told of a tensor: type, shape, strides, bytes."""
    if t is None:
        return None
    if t.is_nested:
        return [_bits(part) for part in t.unbind()]
    if t.is_sparse:
        return (_bits(t._indices()), _bits(t._values()))
    if t.is_meta:
        return (t.dtype, t.shape, t.stride())
    strides = [step for step, n in zip(t.stride(), t.shape, strict=True) if n > 1]
    return (t.dtype, t.shape, strides, t.detach().contiguous().view(torch.uint8 if t.ndim else t.dtype).tolist())


def _numbered(root: Any) -> dict[Any, int]:
    return {n: i for i, n in enumerate(reach([edge_of(root)[0]]))}


def _order_of_backward(run: Run) -> list[tuple[int, str]]:
    """The nodes in the order in which the engine calls them."""
    ran: list[tuple[int, str]] = []
    number = _numbered(run.root)
    for node, i in number.items():
        at = (i, type(node).__name__)
        node.register_prehook(lambda grads, at=at: ran.append(at))
    run.root.backward(run.gradient)
    return ran


def _order_of_steps(stepper: Stepper, graph: TorchGraph, root: Any) -> list[tuple[int, str]]:
    number, node_of = _numbered(root), {id: n for n, id in graph.node_ids.items()}
    ran = [node_of[s.node] for s in stepper.trace.steps]
    return [(number[n], type(n).__name__) for n in ran if n in number]  # a node inside of a region is none of PyTorch's


def ends(name: str) -> list[tuple[Any, ...]]:
    """How backward() runs and ends, and how a stepped pass does: order, grads, and what hooks said."""
    theirs = Run(name)
    order = _order_of_backward(theirs)
    found: list[tuple[Any, ...]] = [(order, theirs.grads(), list(SAID))]
    ours = Run(name)
    stepper, graph = ours.stepper()
    stepper.finish()
    return [*found, (_order_of_steps(stepper, graph, ours.root), ours.grads(), list(SAID))]


@every_program
def test_a_stepped_pass_ends_like_backward(name: str) -> None:
    theirs, ours = ends(name)
    if name.startswith("compiled"):  # a leaf gets its gradient where the region computes it
        theirs[0].sort()
        ours[0].sort()
    assert ours == theirs


@every_small_program
def test_back_to_the_start_restores_every_grad_and_the_graph_is_still_good(name: str) -> None:
    theirs = Run(name)
    theirs.root.backward(theirs.gradient)
    ours = Run(name)
    objects, before = [t.grad for t in ours.leaves], ours.grads()
    stepper, _ = ours.stepper()
    stepper.finish()
    stepper.goto(0)
    assert all(t.grad is g for t, g in zip(ours.leaves, objects, strict=True))
    assert ours.grads() == before
    if name not in ("optimizer_in_the_backward_pass", "hooks_that_remove_themselves"):  # what hooks have done stays done
        ours.root.backward(ours.gradient)
        assert ours.grads() == theirs.grads()


def _as_recorded(order: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The one thing that is another: `reshape` calls `view` under any dispatch mode."""
    return [(i, name.replace("ReshapeAlias", "View")) for i, name in order]


@every_small_program
def test_recording_changes_nothing(name: str) -> None:
    plain = Run(name)
    after_plain = torch.get_rng_state()
    recorded = Run(name, recorded=True)
    assert torch.equal(torch.get_rng_state(), after_plain)
    assert _bits(recorded.root) == _bits(plain.root)
    order = _order_of_backward(plain)
    assert _as_recorded(_order_of_backward(recorded)) == _as_recorded(order)
    assert recorded.grads() == plain.grads()


@every_small_program
def test_a_recorded_program_can_be_stepped(name: str) -> None:
    theirs = Run(name)
    theirs.root.backward(theirs.gradient)
    ours = Run(name, recorded=True)
    stepper, _ = ours.stepper()
    stepper.finish()
    assert ours.grads() == theirs.grads()


class _Alive:
    """Hangs on a node, and dies with it."""


def _left_alive(name: str, look: Callable[[Run], Any], recorded: bool = False) -> int:
    """How many nodes are there when nobody has the program any more."""

    def run() -> list[Any]:
        program, found = Run(name, recorded), []
        for node in reach([edge_of(program.root)[0]]):
            if not is_accumulate(node):
                alive = node.metadata["alive"] = _Alive()
                found.append(weakref.ref(alive))
        look(program)
        return found

    found = run()
    gc.collect()
    return sum(a() is not None for a in found)


@every_small_program
def test_nothing_of_ours_keeps_the_graph_alive(name: str) -> None:
    on_its_own = _left_alive(name, lambda run: run.root.backward(run.gradient))  # hooks can keep their node in PyTorch too
    for recorded in (False, True):
        assert _left_alive(name, lambda run: run.stepper()[0].finish(), recorded) <= on_its_own


Wider = with_backward(lambda ctx, g: g.double() * (1 + 2**-20))  # of a wider type than the input


@pytest.mark.skipif(not hasattr(torch.Tensor, "grad_dtype"), reason="this release casts every gradient to the type of its leaf")
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64])
def test_a_leaf_says_of_which_type_its_grad_is(dtype: Any) -> None:
    found = []
    for go in (lambda loss: loss.backward(), lambda loss: av.step(loss).finish()):
        x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
        x.grad_dtype = dtype
        go(Wider.apply(x).float().sum())
        found.append((x.grad.dtype, x.grad.tolist()))
    assert found[0] == found[1]


class OneSided(torch.autograd.Function):  # type: ignore[misc]
    """Its first input gets no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return x * 1, y * 1

    @staticmethod
    def backward(ctx: Any, grad_x: Any, grad_y: Any) -> Any:
        return None, grad_y


def hooks_without_gradient(go: Callable[[Any], Any]) -> list[Any]:
    """Which hooks were called, and with what, on a way along which nothing is sent."""
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    h, called = x * 2, list[Any]()
    a, b = OneSided.apply(h, y)
    end = h.grad_fn.next_functions[0][0]
    places = {"h": h.register_hook, "x": x.register_hook, "after": x.register_post_accumulate_grad_hook}
    places |= {"pre": h.grad_fn.register_prehook, "post": h.grad_fn.register_hook}
    places |= {"pre of the leaf": end.register_prehook, "post of the leaf": end.register_hook}
    for name, register in places.items():
        register(lambda given, *_, name=name: called.append((name, None if given is x else given)))
    go(a.sum() + b.sum())
    return called


def test_hooks_are_called_where_nothing_arrives() -> None:
    expected = hooks_without_gradient(lambda loss: loss.backward())
    assert hooks_without_gradient(lambda loss: av.step(loss).finish()) == expected
    assert [name for name, _ in expected if name != "after"] == ["h", "pre", "post", "x", "pre of the leaf", "post of the leaf"]
