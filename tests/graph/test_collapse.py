"""Closed groups: again a document, without cycles, in which nothing that crosses a border is lost."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.graph.collapse import collapse, node_id
from autograd_viz.graph.collapsed import Collapsed
from autograd_viz.graph.groups import group_tree
from autograd_viz.graph.history import state_at
from autograd_viz.graph.model import Document, Entry
from autograd_viz.graph.references import check_references
from autograd_viz.graph.trace import State, Trace
from autograd_viz.pictures.layout import layout
from autograd_viz.pictures.render import theme_named
from autograd_viz.pictures.render.drawing import Drawing, drawing_of
from autograd_viz.sources import anything
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.stepper import Stepper


@st.composite
def programs(draw: st.DrawFn) -> av.Tensor:
    """Ops on what there is already, some of them in scopes."""
    pool = [av.tensor(float(i + 1), requires_grad=bool(i)) for i in range(3)]
    for _ in range(draw(st.integers(3, 25))):
        scope = draw(st.sampled_from(["", "a", "a.b", "c"]))
        x, y = (pool[draw(st.integers(0, len(pool) - 1))] for _ in "xy")
        with av.scope(scope or "none"):
            pool.append(x * y if draw(st.booleans()) else x.sin() + y)
            if draw(st.booleans()):
                pool.append(pool[-1].cos())
    return av.stack(pool).sum() * pool[1]


def collapsed(document: Document, opened: frozenset[str] = frozenset()) -> Collapsed:
    return collapse(document, group_tree(document), opened)


@settings(max_examples=60, deadline=None)
@given(programs(), st.randoms())
def test_a_collapsed_document_is_a_document_without_cycles(root: av.Tensor, random: object) -> None:
    whole = CoreGraph([root], {"root": root}).document
    drawing = drawing_of(whole, collapse=True)
    for _ in range(4):
        shown = drawing.shown
        check_references(shown.document, Trace())
        seen: set[str] = set()
        made = {t for op in shown.document.ops for t in op.outputs}
        for op in shown.document.ops:  # what an op takes is there before it
            assert all(i.tensor in seen or i.tensor not in made for i in op.inputs if i.tensor)
            seen.update(t for t in op.outputs if t)
        place = {n.id: i for i, n in enumerate(shown.document.nodes)}
        for node in shown.document.nodes:  # gradients go to nodes that were made earlier
            targets = [f for f in node.next_functions if f.node is not None]
            outputs = {n.id: n.outputs for n in shown.document.nodes}
            assert all(f.index < outputs[str(f.node)] for f in targets)
            accumulate = {n.id for n in shown.document.nodes if n.variable is not None}
            assert all(place[str(f.node)] < place[node.id] or f.node in accumulate for f in targets)
        assert sum(op.members or 1 for op in shown.document.ops) == len(whole.ops)
        assert layout(shown.document).boxes
        closed = [g.id for g in shown.groups.values()]
        if not closed:
            break
        drawing = drawing.expanded(closed[len(closed) // 2])


@settings(max_examples=40, deadline=None)
@given(programs())
def test_every_edge_across_a_border_is_drawn_and_no_other(root: av.Tensor) -> None:
    whole = CoreGraph([root], {"root": root}).document
    shown = collapsed(whole)
    at = {n.id: shown.shown.get(n.id, n.id) for n in whole.nodes}
    wanted = {(at[n.id], at[f.node]) for n in whole.nodes for f in n.next_functions if f.node and at[n.id] != at[f.node]}
    drawn = {(n.id, f.node) for n in shown.document.nodes for f in n.next_functions if f.node}
    assert drawn == wanted


@settings(max_examples=40, deadline=None)
@given(programs())
def test_a_sum_before_a_group_stands_at_the_entry_that_it_goes_into(root: av.Tensor) -> None:
    whole = CoreGraph([root], {"root": root}).document
    shown = collapsed(whole)
    names, entries = {n.id: n.name for n in whole.nodes}, {n.id: n.entries for n in shown.document.nodes}
    crossing = {
        (f.node, f.index)
        for n in whole.nodes
        for f in n.next_functions
        if f.node and shown.shown.get(n.id) != shown.shown.get(f.node)
    }
    for node, index in crossing:
        if node in shown.shown:
            _, _, end = shown.moved[f"sum:{node}.{index}"].partition("sum:")
            group, _, place = end.rpartition(".")
            assert group == shown.shown[node] and entries[group][int(place)] == Entry(names[node], index)


@settings(max_examples=25, deadline=None)
@given(programs())
def test_every_step_is_one_of_a_box_that_is_drawn_and_all_are_counted(root: av.Tensor) -> None:
    graph = CoreGraph([root], {"root": root})
    shown = drawing_of(graph.document, collapse=True).shown
    stepper = Stepper(graph.document, anything.pass_of(graph, root, None, None, False))
    stepper.finish()
    boxes = {n.id for n in shown.document.nodes}
    assert {shown.step(s).node for s in stepper.trace.steps} <= boxes
    state = shown.state(stepper.state)
    assert sum(state.called.values()) == len(stepper.trace.steps)
    for n in shown.document.nodes:
        assert state.called[n.id] <= (n.members or 1)
    assert all(shown.draws(at) for at in state.values)
    leaves = [t for t in shown.document.tensors if t.is_leaf and t.requires_grad]
    for t in leaves:  # what stands in a grad row is what came to be there
        assert state.values.get(f"{t.id}.grad") == state_at(stepper.trace, len(stepper.trace.steps)).values.get(f"{t.id}.grad")


def parts() -> tuple[av.Tensor, Drawing]:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    weights = [av.tensor([0.5, 0.5], requires_grad=True) for _ in range(2)]
    with av.scope("body"):
        h = (x * weights[0]).sin()
        inner = h * h
        h = inner + weights[1]
    with av.scope("head"):
        loss = (h * x).sum()
    document = CoreGraph([loss], {"x": x, "h": h, "inner": inner, "weights": weights, "loss": loss}).document
    return loss, drawing_of(document, collapse=True)


def names(drawing: Drawing) -> set[str]:
    return {t.name for t in drawing.shown.document.tensors if t.name}


def test_an_arrow_that_several_gradients_leave_a_group_along_has_no_number() -> None:
    x, w = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    with av.scope("block"):
        r = (x * w) * (x + w)
    s = av.step(r * 2, collapse=True)
    s.finish()
    shown = s.drawing.shown
    several = [at for at, count in Counter(shown.moved.values()).items() if count > 1]
    assert several and not set(several) & set(shown.state(s.stepper.state).values)
    assert not [c for step in s.stepper.trace.steps for c in shown.step(step).changes if c.at in several]


def test_what_only_a_group_uses_is_hidden_and_what_crosses_its_border_or_has_a_variable_is_not() -> None:
    _, drawing = parts()
    body = drawing.collapsed("body")
    assert names(body) == {"x", "h", "loss"}
    op = next(o for o in body.shown.document.ops if o.members)
    assert (op.name, op.members) == ("body", 4)
    node = next(n for n in body.shown.document.nodes if n.members)
    assert node.members == 6 and node.id == node_id(body.shown.groups[op.id])  # four, and two AccumulateGrads of the weights
    assert [(e.name, e.index) for e in node.entries] == [("AddBackward0", 0)]
    h = next(t for t in body.shown.document.tensors if t.name == "h")
    assert (h.grad_fn, h.output_nr) == (node.id, 0)


def test_a_group_is_opened_by_title_and_by_what_it_hides_and_closed_again() -> None:
    _, drawing = parts()
    closed = drawing.collapsed("body").collapsed("head")
    inner = next(t.id for t in drawing.document.tensors if t.name == "inner")
    assert names(closed.expanded(inner)) >= {"inner", "weights[0]"}
    assert closed.expanded("body").shown.document.ops == closed.expanded(inner).shown.document.ops
    assert closed.expanded("body").collapsed("body").shown.document == closed.shown.document


def test_the_grad_fn_row_and_next_functions_name_the_real_nodes() -> None:
    _, drawing = parts()
    svg = drawing.expanded("head").svg(State(), theme_named("light"))
    assert "grad_fn = <tspan" in svg and ">AddBackward0<" in svg
    assert "(AddBackward0, 0)" in svg and "6 nodes" in svg and "4 ops" in svg


def test_a_graph_is_drawn_in_groups_for_many_ops_and_for_many_leaves() -> None:
    def closed(ops: int, leaves: int) -> int:
        known = [av.tensor(1.0, requires_grad=True) for _ in range(leaves)]
        y = known[0]
        for i in range(ops):
            y = y * known[i % leaves]
        return len(drawing_of(CoreGraph([y], {}).document).shown.groups)

    assert closed(60, 1) == closed(49, 49) == 0
    assert closed(61, 1) > 0 and closed(52, 52) > 0
