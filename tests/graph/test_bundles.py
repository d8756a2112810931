"""Very many edges between two boxes: one arrow with their number; nothing is lost, and other pictures stay as they are."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.graph.codec import recording_from_json
from autograd_viz.graph.collapsed import MANY
from autograd_viz.graph.model import Document
from autograd_viz.graph.references import check_references
from autograd_viz.graph.trace import State, Trace
from autograd_viz.pictures.render import text_picture
from autograd_viz.pictures.render.drawing import Drawing, drawing_of
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.widget.widget import StepperWidget

from ..effort import examples

N = 1000


class Sum(av.autograd.Function):
    """Of any number of tensors, all of which it keeps."""

    @staticmethod
    def forward(ctx: av.autograd.function.FunctionCtx, *terms: av.Tensor) -> av.Tensor:
        ctx.save_for_backward(*terms)
        return av.stack(terms).sum(0)

    @staticmethod
    def backward(ctx: av.autograd.function.FunctionCtx, grad: av.Tensor) -> tuple[av.Tensor, ...]:
        return (grad,) * len(ctx.saved_tensors)


def one_tensor(h: av.Tensor, n: int) -> av.Tensor:
    return av.stack([h] * n).sum()


def a_result(h: av.Tensor, n: int) -> av.Tensor:
    g = h * 2.0
    return av.cat([g] * n).sum()


def results_of_many_ops(h: av.Tensor, n: int) -> av.Tensor:
    return av.stack([h * float(i) for i in range(n)]).sum()


def results_in_a_list(h: av.Tensor, n: int) -> av.Tensor:
    xs = [h * float(i) for i in range(n)]
    y = av.stack(xs).sum()
    y.xs = xs  # type: ignore[attr-defined]  # they stay alive, as in a notebook
    return y


def results_of_one_op(h: av.Tensor, n: int) -> av.Tensor:
    return av.stack((h.sum() * av.ones(n)).unbind(0)).sum()


def a_function(h: av.Tensor, n: int) -> av.Tensor:
    return Sum.apply(*[h * 1.0 for _ in range(n)]).sum()


def many_ops(h: av.Tensor, n: int) -> av.Tensor:
    return sum((h * float(i) for i in range(n)), start=av.tensor(0.0)).sum()


PROGRAMS: list[Callable[[av.Tensor, int], av.Tensor]] = [
    one_tensor,
    a_result,
    results_of_many_ops,
    results_in_a_list,
    results_of_one_op,
    a_function,
]


def made(program: Callable[[av.Tensor, int], av.Tensor], n: int = N) -> av.Tensor:
    return program(av.ones(2, requires_grad=True), n)


def drawn(root: av.Tensor, **names: av.Tensor) -> Drawing:
    return drawing_of(CoreGraph([root], names).document)


@pytest.mark.parametrize("program", PROGRAMS)
def test_many_edges_are_one_arrow_each_way_with_their_number(program: Callable[[av.Tensor, int], av.Tensor]) -> None:
    drawing = drawn(made(program))
    g = drawing.geometry
    kinds = {m.at.split(":")[1]: m.text for m in g.labels if m.text}
    assert kinds == {"in": "× 1,000", "next": "× 1,000"}
    assert g.width < 2000 and g.height < 3000 and len(g.arrows) < 30


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (one_tensor, "(AccumulateGrad, 0) × 1,000,"),
        (a_result, "(MulBackward0, 0) × 1,000,"),
        (results_of_many_ops, "(MulBackward0, 0) × 1,000,"),
        (results_of_one_op, "(UnbindBackward0, …) × 1,000,"),
    ],
)
def test_next_functions_says_it_in_one_line(program: Callable[[av.Tensor, int], av.Tensor], said: str) -> None:
    svg = av.show(made(program)).svg
    assert svg.count(said) == 1
    assert svg.count("next_functions") < 6


def test_very_many_saved_tensors_are_counted() -> None:
    svg = av.show(made(a_function)).svg
    assert svg.count("saved_tensors[") == 12 and "… and 988 more" in svg


@pytest.mark.parametrize("count", [2, MANY])
def test_as_many_as_can_be_told_apart_have_an_arrow_each(count: int) -> None:
    drawing = drawn(made(one_tensor, count))
    assert drawing.shown.document is drawing.document
    assert len([a for a in drawing.geometry.arrows if a.kind == "next" and a.source == "n0"]) == count


def test_a_result_that_a_variable_holds_keeps_its_box_and_its_arrow() -> None:
    rows = av.ones(N, requires_grad=True).unbind(0)
    first = rows[0]
    g = drawn(av.stack(rows).sum(), first=first).geometry
    assert [m.text for m in g.labels if m.at.startswith("count:in")] == ["× 999"]
    assert "first" in av.show(av.stack(rows)).svg


def test_results_that_nothing_takes_are_not_drawn() -> None:
    rows = av.ones(N, requires_grad=True).unbind(0)
    g = drawn(rows[0] * rows[1]).geometry
    assert len(g.boxes) < 12


@st.composite
def crowded(draw: st.DrawFn) -> Document:
    """Programs with ops that take, or give, very many tensors."""
    pool = [av.tensor([1.0, 2.0], requires_grad=True), av.tensor([3.0, 4.0])]
    for _ in range(draw(st.integers(1, 6))):
        some = [pool[draw(st.integers(0, len(pool) - 1))] for _ in range(draw(st.integers(1, 4)))]
        many = draw(st.sampled_from([1, 7, 40]))
        match draw(st.sampled_from(["stack", "results", "unbind"])):
            case "stack":
                pool.append(av.stack(some * many).sum(0))
            case "results":
                pool.append(av.stack([x * 2.0 for x in some for _ in range(many)]).sum(0))
            case _:
                pool += (*av.stack(some * many).unbind(0)[:3],)
    named = {f"x{i}": t for i, t in enumerate(pool) if draw(st.booleans())}
    return CoreGraph([av.stack(pool).sum()], named).document


@given(crowded(), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_nothing_is_lost_and_everything_has_a_place(whole: Document, in_groups: bool) -> None:
    drawing = drawing_of(whole, collapse=True) if in_groups else Drawing(whole)
    shown = drawing.shown
    document = shown.document
    check_references(document, Trace())
    outputs = {n.id: n.outputs for n in document.nodes}
    edges = [f for n in document.nodes for f in n.next_functions]
    assert all(f.index < outputs[f.node] for f in edges if f.node is not None)
    assert all(t.output_nr < outputs[t.grad_fn] for t in document.tensors if t.grad_fn is not None)
    assert all(len(n.entries) in (0, n.outputs) for n in document.nodes)
    there = {f"next:{n.id}.{i}" for n in document.nodes for i in range(len(n.next_functions))}
    there |= {f"sum:{n.id}.{i}" for n in document.nodes for i in range(n.outputs)}
    assert set(shown.moved.values()) <= there
    if not in_groups:
        assert sum(f.count for f in edges) == sum(len(n.next_functions) for n in whole.nodes)
        assert sum(i.count for o in document.ops for i in o.inputs) == sum(len(o.inputs) for o in whole.ops)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_pass_over_bundles_tells_the_sum_and_no_part_alone(program: Callable[[av.Tensor, int], av.Tensor]) -> None:
    widget = av.step(made(program, 300))
    assert isinstance(widget, StepperWidget)
    widget.finish()
    shown = widget.drawing.shown
    several = {f"next:{n.id}.{i}" for n in shown.document.nodes for i, f in enumerate(n.next_functions) if f.count > 1}
    state = shown.state(State({c.at: c.after for s in widget.stepper.trace.steps for c in s.changes}))
    assert several and several.isdisjoint(state.values)
    by_id = {n.id: n for n in shown.document.nodes}
    for frame in widget.frames:
        node, step = by_id[frame["node"]], frame["step"]
        assert len(step.get("grad_inputs", ())) in (0, len(node.next_functions))
        assert len(step.get("grad_outputs", ())) in (0, node.outputs)
    assert max(len(frame["sentence"]) for frame in widget.frames) < 1500
    assert max(len(said["sentence"]) for said in widget.picture["forward"] or [{"sentence": ""}]) < 1500
    assert max(map(len, text_picture(widget.stepper.document, widget.stepper.state).split("\n"))) < 1500


def test_exports_keep_every_edge(tmp_path: Path) -> None:
    h = av.ones(2, requires_grad=True)
    root = one_tensor(h, 50)
    for suffix in ("dot", "mmd", "json"):
        av.save(root, tmp_path / f"x.{suffix}")
    mermaid = (tmp_path / "x.mmd").read_text().splitlines()
    assert mermaid.count("    t0 --> o0") == mermaid.count("    n0 -.-> n2") == 50
    dot = (tmp_path / "x.dot").read_text()
    assert sum(line.strip().startswith("t0 -> o0") for line in dot.splitlines()) == 50
    assert sum(line.strip().startswith("n2 -> n0:next") for line in dot.splitlines()) == 50
    document, _ = recording_from_json((tmp_path / "x.json").read_text())
    assert [len(n.next_functions) for n in document.nodes] == [50, 1, 0]


def calls(action: Callable[[], object]) -> int:
    """How many functions were called."""
    profile = cProfile.Profile()
    profile.runcall(action)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


@pytest.mark.parametrize("program", [*PROGRAMS, many_ops])
def test_the_work_grows_as_the_number_of_edges(program: Callable[[av.Tensor, int], av.Tensor]) -> None:
    few, many = made(program, 300), made(program, 1200)
    av.show(few)  # what is compiled, and read, once
    assert calls(lambda: av.show(many)) < 4.5 * calls(lambda: av.show(few))
