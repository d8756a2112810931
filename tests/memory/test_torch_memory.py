"""What PyTorch's autograd holds: as measured, on every architecture, without memory, with hooks and checkpoints."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import autograd_viz as av  # noqa: E402

from ..torch_models import GPT, MODELS  # noqa: E402
from .allocated import Made, held_by  # noqa: E402

pytestmark = pytest.mark.torch
NEAR = 0.05


@pytest.mark.parametrize("name", MODELS)
def test_activations_are_what_a_forward_pass_leaves_allocated(name: str) -> None:
    torch.manual_seed(0)
    forward, leaves = MODELS[name]()
    with Made() as made:
        root = forward()
    loss, _ = root if isinstance(root, tuple) else (root, None)
    held = held_by(forward)
    memory = av.memory(loss, params=held)
    alone = sum(row["bytes"] for row in memory.table() if row["kind"] == "activation" and row["name"] not in held)
    assert alone == pytest.approx(made.alive([*held.values(), *leaves, loss]), rel=NEAR)


def allocations(run: Callable[[], Any]) -> tuple[Any, list[int]]:
    """What a program returns, and what PyTorch's allocator gave (and took back) meanwhile."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        result = run()
    return result, [e.nbytes() for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]


@pytest.mark.parametrize("name", ["gpt2_two_layers", "bert", "gru"])
def test_the_peak_is_that_of_pytorchs_allocator(name: str) -> None:
    torch.manual_seed(0)
    forward, _ = MODELS[name]()
    loss, _ = allocations(forward)  # the profiler knows the sizes of what it has seen
    memory = av.memory(loss, params=held_by(forward))
    _, changes = allocations(loss.backward)
    assert memory.peak == pytest.approx(memory.activations + max(itertools.accumulate(changes)), rel=NEAR)


def net_of(**options: Any) -> nn.Module:
    return nn.Sequential(nn.Linear(64, 256, **options), nn.GELU(), nn.Linear(256, 64, **options), nn.LayerNorm(64, **options))


def totals(memory: Any) -> list[int]:
    return [memory.bytes, memory.activations, memory.parameters, memory.inputs, memory.peak]


def test_meta_and_fake_tensors_need_no_memory() -> None:
    from torch._subclasses import FakeTensorMode

    net, x = net_of(), torch.randn(32, 64)
    plain = av.memory(net(x).sum())
    net, x = net_of(device="meta"), torch.empty(32, 64, device="meta")
    assert totals(av.memory(net(x).sum())) == totals(plain)
    with FakeTensorMode():
        net, x = net_of(), torch.randn(32, 64)
        loss = net(x).sum()
    fake = av.memory(loss)
    assert totals(fake) == totals(plain) and plain.bytes > 100_000
    assert [row["module"] for row in fake.table("module")] == ["", "0", "1", "2", "3"]
    net, x = net_of(device="meta"), torch.empty(10**9, 64, device="meta")
    assert av.memory(net(x).sum()).bytes > 10**12


def test_a_recorded_graph_and_one_with_guessed_modules_hold_the_same() -> None:
    torch.manual_seed(0)
    net, ids = GPT(2), torch.randint(0, 11, (2, 6))
    guessed = av.memory(net(ids))
    with av.record(net):
        loss = net(ids)
    known = av.memory(loss)
    assert guessed.bytes == known.bytes and guessed.parameters == known.parameters and guessed.peak == known.peak
    assert "modules are guessed" in guessed.svg and "modules are guessed" not in known.svg
    blocks = [{row["module"]: row["bytes"] for row in m.table("module")}["blocks.1"] for m in (guessed, known)]
    assert blocks[0] == blocks[1]
    assert {row["line"] for row in guessed.table("line")} == {None} and None not in {row["line"] for row in known.table("line")}


class Checkpointed(nn.Module):
    """Layers of which the second computes again."""

    def __init__(self, reentrant: bool | None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(net_of() for _ in range(3))
        self.reentrant = reentrant

    def forward(self, x: Any) -> Any:
        for i, layer in enumerate(self.layers):
            again = i == 1 and self.reentrant is not None
            options = {"use_reentrant": self.reentrant, "preserve_rng_state": False}
            x = checkpoint(layer, x, **options) if again else layer(x)
        return x


@pytest.mark.parametrize("reentrant", [False, True])
def test_what_a_checkpoint_would_save_is_what_it_saves(reentrant: bool) -> None:
    plain, again, x = Checkpointed(None), Checkpointed(reentrant), torch.randn(16, 64)
    with av.record(plain):
        loss = plain(x).sum()
    before = av.memory(loss)
    (promised,) = [row for row in before.table("checkpoint") if row["around"] == "layers.1"]
    with av.record(again):
        loss = again(x).sum()
    after = av.memory(loss)
    assert before.activations - after.activations == promised["saves"]
    if not reentrant:
        assert after.peak == promised["peak"]


def test_what_a_checkpoint_holds_is_told_and_another_checkpoint_would_not_save_it() -> None:
    first, second, x = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Sequential(nn.Tanh(), nn.Linear(8, 8)), torch.randn(16, 4)
    net = nn.ModuleDict({"first": first, "second": second})
    with av.record(net):
        loss = checkpoint(second, first(x), use_reentrant=False).sum()
    memory = av.memory(loss)
    held = {(row["dtype"], row["bytes"], row["uses"]) for row in memory.table() if row["kind"] == "activation"}
    random_state = torch.get_rng_state().numel()
    # the result of first has its own use and those of three promises
    assert held == {("float32", 16 * 8 * 4, 4), ("uint8", random_state, 3)}
    assert memory.table("checkpoint") == []


def test_what_hooks_have_packed_is_counted_and_no_hook_runs() -> None:
    unpacked: list[Any] = []

    def unpack(packed: Any) -> Any:
        unpacked.append(packed)
        return packed[1]

    x = torch.randn(100, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: ("half", t.detach().to(torch.float16)), unpack):
        loss = x.exp().sum()
    memory = av.memory(loss)
    assert memory.activations == 200 and not unpacked


class Remembers(torch.autograd.Function):
    """Keeps a tensor as an attribute, which PyTorch never frees."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.extra = [x * 2]
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * ctx.extra[0]


def test_what_a_function_keeps_on_ctx_is_held_too() -> None:
    x = torch.randn(10, requires_grad=True)
    (row,) = av.memory(Remembers.apply(x).sum()).table()
    assert (row["bytes"], row["saved"], row["node"]) == (40, "ctx", "RemembersBackward")


def test_frozen_parameters_buffers_and_sparse_gradients_are_told_apart() -> None:
    net, x = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)), torch.randn(8, 4)
    net[2].requires_grad_(False)
    kinds = {row["name"]: row["kind"] for row in av.memory(net(x).sum()).table()}
    assert kinds["net.2.weight"] == kinds["net.1.weight"] == "parameter" and kinds["x"] == "input"
    w, s = torch.randn(3, 3, requires_grad=True), torch.eye(3).to_sparse()
    assert av.memory(torch.sparse.mm(s, w).sum()).inputs == 3 * 4 + 6 * 8


def test_a_freed_graph_is_refused_in_pytorchs_words() -> None:
    x = torch.randn(3, requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError) as theirs:
        loss.backward()
    with pytest.raises(RuntimeError) as ours:
        av.memory(loss)
    assert str(ours.value).startswith(str(theirs.value).removesuffix("."))


def test_a_map_counts_a_block_of_memory_once_however_many_views_are_kept() -> None:
    class Parts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.all = nn.Linear(4, 12)

        def forward(self, x: Any) -> Any:
            a, b, c = self.all(x).chunk(3, -1)
            return a.sin() + b.sin() + c.sin()

    model = nn.Sequential(Parts(), nn.Linear(4, 2))
    with av.record(model):
        loss = model(torch.ones(3, 4)).sum()
    kept = {row["module"]: row["bytes"] for row in av.memory(loss).table("module")}
    plan = av.map(loss).drawing.plan
    assert plan.labels.kept(plan.card("0")) == kept["0"]
