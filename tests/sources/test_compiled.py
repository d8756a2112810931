"""A region under torch.compile opens: its ops, modules, lines and sizes are drawn, and steps interpret its backward graph."""

from __future__ import annotations

import shutil
import types
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.graph.codec import recording_from_json, recording_to_json  # noqa: E402
from autograd_viz.pictures.render.writer import why_unseen  # noqa: E402
from autograd_viz.sources.anything import graph_of  # noqa: E402
from autograd_viz.stepper.stepper import Stepper  # noqa: E402
from autograd_viz.verbs.show import stepper_of  # noqa: E402

pytestmark = pytest.mark.torch


class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Two layers, a residual connection, and a weight that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        h = self.first(x)
        h = h + self.first(h).tanh()
        return self.last(h)


class Compiled:
    """A model, the same compiled, and an input."""

    def __init__(self, backend: str) -> None:
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.model = Net()
        self.fast = torch.compile(self.model, backend=backend, dynamic=False)
        self.x = torch.randn(3, 4)

    def loss(self) -> Any:
        """A loss of a new forward pass; no gradient is there."""
        self.model.zero_grad()
        return self.fast(self.x).square().sum()

    def stepper(self) -> tuple[Any, Stepper]:
        """Such a loss, and its stepper."""
        net, loss = self.model, self.loss()
        assert net is not None  # a variable that names parameters
        return loss, stepper_of(loss)

    def grads(self) -> dict[str, Any]:
        """Copies of the gradients."""
        return {name: p.grad.clone() for name, p in self.model.named_parameters()}


@pytest.fixture(scope="module")
def made() -> Iterator[Compiled]:
    """Three seconds: Dynamo is loaded and compiles."""
    yield Compiled("aot_eager")
    torch._dynamo.reset()


def backward(made: Compiled) -> dict[str, Any]:
    made.loss().backward()
    return made.grads()


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def test_a_region_opens_into_its_ops_with_modules_lines_and_sizes(made: Compiled) -> None:
    _, stepper = made.stepper()
    document = stepper.document
    opened = [o for o in document.ops if o.reason == "opened"]
    by_module = {(o.module, o.name) for o in opened}
    assert by_module >= {("first", "Addmm"), ("", "Tanh"), ("last", "Addmm")}
    assert {o.source.text.strip() for o in opened if o.module == "last" and o.source} == {"return self.last(h)"}
    assert [(m.path, m.name, m.marks) for m in document.modules] == [
        ("", "Net", ("compiled",)), ("first", "Linear", ()), ("last", "Linear", ()),
    ]  # fmt: skip
    tanh = next(n for n in document.nodes if n.name == "TanhBackward")
    assert [(s.name, s.value and s.value.shape, s.bytes) for s in tanh.saved] == [("detach_1", (3, 4), 48)]
    assert tanh.formulas[0].text == "tanh_backward(grad, detach_1)"
    assert recording_from_json(recording_to_json(document, stepper.trace)) == (document, stepper.trace)


def test_where_gradients_meet_several_edges_lead(made: Compiled) -> None:
    _, stepper = made.stepper()
    nodes = {n.id: n for n in stepper.document.nodes}
    arriving = [(f.node, f.index) for n in nodes.values() for f in n.next_functions if f.node is not None]
    names = sorted({nodes[node].name for node, index in arriving if arriving.count((node, index)) > 1})
    assert names == ["AddmmBackward", "GradientSumBackward"]  # the residual connection; the weight that is used twice


def test_steps_give_the_gradients_of_backward_to_the_bit(made: Compiled) -> None:
    _, stepper = made.stepper()
    stepper.finish()
    stepped = made.grads()
    gaps = [s.interpreted for s in stepper.recorded if s.interpreted is not None and s.interpreted >= 0]
    assert gaps == [0.0] * 4
    said = [s.sentence for s in stepper.recorded]
    assert sum("The compiled pass has run." in s for s in said) == 1
    assert sum("is the same to the bit" in s for s in said) == 4
    assert any("Computed again from what is saved: t_" in s for s in said)
    assert same(stepped, backward(made))


def test_the_program_does_not_notice(made: Compiled) -> None:
    loss = made.loss()
    loss.backward()
    compiled_once = dict(torch._dynamo.utils.counters["stats"])
    loss, stepper = made.stepper()
    stepper.finish()
    av.map(made.loss())
    assert dict(torch._dynamo.utils.counters["stats"]) == compiled_once
    made.model.zero_grad()
    loss.backward()
    assert same(made.grads(), backward(made))


def test_steps_go_back_and_again(made: Compiled) -> None:
    _, stepper = made.stepper()
    stepper.finish()
    whole = made.grads()
    stepper.goto(4)
    stepper.next()
    stepper.goto(0)
    assert all(p.grad is None for p in made.model.parameters())
    stepper.finish()
    assert same(made.grads(), whole)


def test_an_edited_gradient_leaves_the_region_as_it_is_interpreted(made: Compiled) -> None:
    _, stepper = made.stepper()
    stepper.finish()
    whole = made.grads()
    stepper.goto(0)
    inside = next(n.id for n in stepper.document.nodes if n.name == "TanhBackward")
    stepper.run_to(inside)
    stepper.edit(lambda g: 2 * g)
    stepper.finish()
    edited = made.grads()
    assert torch.equal(edited["last.weight"], whole["last.weight"])  # it had left before
    assert not torch.equal(edited["first.weight"], whole["first.weight"])
    stepper.run_to(inside)
    stepper.back()
    stepper.goto(0)
    stepper.finish()
    assert same(made.grads(), edited)  # the edit is part of the steps
    stepper.run_to(inside)
    stepper.edit(lambda g: g / 2)
    stepper.finish()
    assert torch.allclose(made.grads()["first.weight"], whole["first.weight"])


def test_a_freed_region_is_drawn_with_what_it_had_saved(made: Compiled) -> None:
    loss = made.loss()
    loss.backward()
    document = graph_of(loss, {}).document
    assert {s.state for n in document.nodes if n.name == "TanhBackward" for s in n.saved} == {"freed"}
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        stepper_of(loss).finish()


def test_the_map_has_its_modules_and_their_gradients(made: Compiled) -> None:
    drawn = av.map(made.loss())
    assert "compiled: gradients inside are interpreted" in repr(drawn)
    assert all(text in drawn.svg for text in ("first", "last", "Linear", "Tanh"))


@pytest.mark.parametrize(
    ("kept", "said"), [({}, "made one op of several"), ({"bw_module_fn": None}, "TORCHINDUCTOR_AUTOGRAD_CACHE=0")]
)
def test_what_pytorch_does_not_keep_stays_one_node(
    made: Compiled, monkeypatch: pytest.MonkeyPatch, kept: dict[str, Any], said: str
) -> None:
    loss = made.loss()
    node = loss.grad_fn.next_functions[0][0].next_functions[0][0]
    monkeypatch.setattr(node._forward_cls, "_lazy_backward_info", types.SimpleNamespace(**kept))
    document = graph_of(loss, {}).document
    assert [o.name for o in document.ops] == ["CompiledFunction", "Pow", "Sum"]
    assert said in why_unseen(document.ops[0])
    stepper = stepper_of(loss)
    stepper.finish()
    assert ("TORCHINDUCTOR" in said) == any(said in s.sentence for s in stepper.recorded)
    monkeypatch.undo()
    assert same(made.grads(), backward(made))


def test_what_a_checkpoint_computes_again_is_told() -> None:
    torch._dynamo.reset()
    w = torch.ones(4, requires_grad=True)
    inner = torch.compile(
        lambda x: torch.utils.checkpoint.checkpoint(lambda v: (v * w).exp().sin(), x, use_reentrant=False), backend="aot_eager"
    )
    stepper = stepper_of(inner(torch.ones(4)).sum())
    stepper.finish()
    said = next(s.sentence for s in stepper.recorded if s.sentence.startswith("SinBackward"))
    assert "Computed again from what is saved: cos = cos(exp(mul(primals_1, primals_2))), shape (4,)." in said
    assert torch.equal(w.grad, torch.autograd.grad(inner(torch.ones(4)).sum(), w)[0])
    torch._dynamo.reset()


def test_hooks_of_saved_tensors_are_not_called_to_look_inside(made: Compiled) -> None:
    calls = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: calls.append(t) or t):
        loss = made.loss()
    document = graph_of(loss, {}).document
    assert [o.name for o in document.ops] == ["CompiledFunction", "Pow", "Sum"]
    assert calls == []


@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # Dynamo's question
def test_a_graph_break_is_told_with_its_reason_and_line() -> None:
    torch._dynamo.reset()
    w = torch.ones(4, requires_grad=True)

    @torch.compile(backend="aot_eager")  # type: ignore[untyped-decorator]
    def broken(x: Any) -> Any:
        h = (x * w).sin()
        if h.sum() > 0:
            h = h.exp()
        return h * 2

    loss = broken(torch.ones(4)).sum()
    drawn, stepper = av.map(loss), stepper_of(loss)
    stepper.finish()
    line = broken.__wrapped__.__code__.co_firstlineno + 3
    said = f"test_compiled.py:{line}: Data-dependent branching: generic_jump TensorVariable()"
    ops = [(o.name, o.graph_break) for o in stepper.document.ops]
    regions = [(name, text) for name, text in ops if name == "CompiledFunction"]
    assert regions == [("CompiledFunction", ""), ("CompiledFunction", said)]
    assert "1 graph break" in repr(drawn)
    assert f"after a graph break, test_compiled.py:{line}" in drawn.svg
    assert [s.sentence.count(said) for s in stepper.recorded].count(1) == 1
    assert torch.equal(w.grad, torch.autograd.grad(broken(torch.ones(4)).sum(), w)[0])
    torch._dynamo.reset()


def test_a_difference_between_eager_and_compiled_is_told_by_op(made: Compiled) -> None:
    eager, x = made.model, made.x
    found = av.diff(lambda: eager(x).square().sum(), lambda: made.fast(x).square().sum())
    assert found.sentences[0] == "Every value and every gradient is the same, to the bit."
    assert {i.name.partition("(")[0] for i in found.report.gradients} >= {"Tanh", "Addmm", "T"}
    assert found.sentences[1:] == ["Only b has 3 ops: GradientSum, CompiledFunction."]


def test_memory_is_that_of_the_compiled_pass(made: Compiled) -> None:
    assert {h["node"] for h in av.memory(made.loss()).table("tensor")} == {"CompiledFunctionBackward", "PowBackward0"}


def test_a_dimension_may_change() -> None:
    """Two seconds: it is compiled."""
    torch._dynamo.reset()
    w = torch.ones(4, requires_grad=True)
    fast = torch.compile(lambda x: (x * w).sin(), backend="aot_eager", dynamic=True)
    for rows in (3, 5):
        document = graph_of(fast(torch.ones(rows, 4)).sum(), {}).document
        assert next(t for t in document.tensors if t.grad_fn and t.value.shape).value.shape == (rows, 4)
    stats = dict(torch._dynamo.utils.counters["stats"])
    fast(torch.ones(7, 4)).sum().backward()
    assert dict(torch._dynamo.utils.counters["stats"]) == stats
    torch._dynamo.reset()


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")  # PyTorch's own
def test_what_is_fused_says_by_how_much_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds: inductor calls the C++ compiler, once for each kernel."""
    from torch._functorch import config
    from torch._inductor import config as inductor
    from torch._inductor import cpu_vec_isa

    monkeypatch.setattr(cpu_vec_isa, "valid_vec_isa_list", list)  # else it compiles for half a minute to see what there is
    monkeypatch.setattr(inductor, "compile_threads", 1)
    monkeypatch.setattr(inductor, "cpp_cache_precompile_headers", False)
    monkeypatch.setattr(config, "enable_autograd_cache", False)
    made = Compiled("inductor")
    _, stepper = made.stepper()
    stepper.finish()
    stepped = made.grads()
    gaps = [s.interpreted for s in stepper.recorded if s.interpreted is not None and s.interpreted >= 0]
    assert len(gaps) >= 3
    assert max(gaps) < 1e-5
    differs = [s for s in stepper.recorded if s.interpreted]
    assert all("differs by at most" in s.sentence for s in differs if s.interpreted == s.interpreted)
    made.model.zero_grad()
    made.loss().backward()
    assert same(stepped, made.grads())
    torch._dynamo.reset()
