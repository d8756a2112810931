"""Documents of programs that change tensors in place: every op stands behind what it read, not behind what is there now."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

import autograd_viz as av
from autograd_viz.graph.model import Document, Node, Op
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.twin.core.tensor.former import formers

from ..wild import Instruction, Program, wild_programs


def document_of(*roots, **variables) -> Document:
    return CoreGraph(roots, variables).document


def named(document: Document, name: str):
    return next(t for t in document.tensors if t.name == name)


def op_behind(document: Document, name: str) -> Op:
    id = named(document, name).id
    return next(o for o in document.ops if id in o.outputs)


def operand_names(document: Document, op: Op) -> list[str | None]:
    names = {t.id: t.name for t in document.tensors}
    return [names[i.tensor] if i.tensor else i.text for i in op.inputs]


def test_an_op_before_the_change_reads_the_former_tensor_and_one_after_it_the_new():
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    before = y + 1
    y.mul_(3)
    after = y + 1
    document = document_of(before + after, x=x, y=y, before=before, after=after)
    assert operand_names(document, op_behind(document, "before")) == ["y (v0)", "1"]
    assert operand_names(document, op_behind(document, "after")) == ["y", "1"]
    assert operand_names(document, op_behind(document, "y")) == ["y (v0)", "3"]
    assert [named(document, n).value.numbers for n in ("y (v0)", "y")] == [(2.0, 4.0), (6.0, 12.0)]


def test_an_op_that_read_a_grad_stands_behind_the_grad_that_it_read_and_not_behind_the_sum_with_a_later_one():
    w = leaf = av.tensor(1.0, requires_grad=True)
    for _ in range(2):
        loss = (w * 2 - 4) ** 2
        loss.backward()
        w = w - 0.1 * w.grad if w is leaf else w
    document = document_of(loss, w=w, leaf=leaf)
    scaled = next(o for o in document.ops if o.name == "Mul" and o.node is None)
    values = {t.id: t.value.numbers for t in document.tensors}
    assert [values[o.tensor] for o in scaled.inputs if o.tensor] == [(-8.0,)] and leaf.grad.item() == pytest.approx(-9.6)


def test_of_a_grad_that_only_its_leaf_holds_nothing_is_kept():
    w = av.tensor(1.0, requires_grad=True)
    for _ in range(3):
        (w * 2).backward()
    assert not values_before(w.grad)
    held = w.grad
    for _ in range(200):
        (w * 2).backward()
    assert len(values_before(held)) <= 64


def values_before(tensor: av.Tensor) -> list[float]:
    """What is kept of its values before each change, the latest first."""
    return [former.item() for former, _ in formers(tensor)]


def test_values_before_untracked_changes_are_kept_and_a_loop_of_changes_keeps_only_the_last():
    t = av.tensor(0.0)
    for _ in range(3):
        t.add_(1)
    assert values_before(t) == [2.0, 1.0, 0.0]
    for _ in range(300):
        t.add_(1)
    kept = values_before(t)
    assert kept[0] == 302.0 and len(kept) < 100


def test_a_change_after_detach_keeps_the_values_from_before_it():
    y = av.tensor(1.0, requires_grad=True) * 2
    y.add_(1)
    grad_fn = y.grad_fn
    y.detach_()
    y.add_(5)
    assert grad_fn is not None and {2.0, 3.0} <= {*values_before(y)}


def test_assigning_to_a_slice_shows_the_tensor_before_and_after():
    w = av.tensor(5.0, requires_grad=True)
    x = av.zeros(3)
    x[0] = w
    x[1] = w
    document = document_of(x.sum(), x=x, w=w)
    values = {t.name: t.value.numbers for t in document.tensors if t.name}
    assert values == {"w": (5.0,), "x (v0)": (0.0, 0.0, 0.0), "x (v1)": (5.0, 0.0, 0.0), "x": (5.0, 5.0, 0.0)}


def test_a_view_follows_its_base():
    x = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    view = y[1:]
    before = view.sum()
    y.mul_(10)
    after = view.sum()
    document = document_of(before + after, x=x, y=y, view=view, before=before, after=after)
    assert operand_names(document, op_behind(document, "before")) == ["view (v0)"]
    assert operand_names(document, op_behind(document, "after")) == ["view"]
    assert (op_behind(document, "view").name, operand_names(document, op_behind(document, "view"))[0]) == ("AsStrided", "y")
    assert [named(document, n).value.numbers for n in ("view (v0)", "view")] == [(4.0, 6.0), (40.0, 60.0)]


def test_of_a_large_tensor_the_former_values_are_gone_and_the_box_says_so():
    x = av.ones(1000, requires_grad=True)
    y = x * 2
    y[0] = 7.0
    document = document_of(y.sum(), x=x, y=y)
    assert (named(document, "y (v0)").value.text, named(document, "y (v0)").value.shape) == ("overwritten", (1000,))


def test_a_dirty_input_of_a_function_is_two_boxes():
    class Double(av.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = av.tensor([1.0], requires_grad=True)
    y = x + 1
    Double.apply(y)
    document = document_of(y, x=x, y=y)
    assert op_behind(document, "y").name == "Double"
    assert operand_names(document, op_behind(document, "y")) == ["y (v0)"]


def test_detach_lets_the_former_history_go():
    state = av.zeros(2)
    w = av.ones(2, requires_grad=True)
    state.add_(w)
    loss = (state * 2).sum()
    state.detach_()
    assert [t.name for t in document_of(state, state=state).tensors] == ["state"]
    assert "state (v1)" in [t.name for t in document_of(loss, state=state).tensors]
    history = weakref.ref(loss.grad_fn)
    del loss
    gc.collect()
    assert history() is None


def check(document: Document) -> None:
    """Boxes are made before they are read, and the backward graph goes the way the forward graph came."""
    made = {id: position for position, op in enumerate(document.ops) for id in op.outputs}
    nodes = {n.id: n for n in document.nodes}
    tensors = {t.id: t for t in document.tensors}
    for position, op in enumerate(document.ops):
        read = [operand.tensor for operand in op.inputs if operand.tensor]
        assert all(made.get(id, -1) < position for id in read)
        if op.node and nodes[op.node].name != "CopySlices":
            check_edges(op, nodes[op.node], nodes, tensors)


def check_edges(op: Op, node: Node, nodes, tensors) -> None:
    """Each edge leads to the node that the operand beside it has for a grad_fn."""
    read = [tensors[operand.tensor] for operand in op.inputs if operand.tensor]
    for edge in node.next_functions:
        if edge.node is not None and nodes[edge.node].name != "AccumulateGrad":
            assert (edge.node, edge.index) in [(t.grad_fn, t.output_nr) for t in read]


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(wild_programs())
@example(Program((((3,), True),), (Instruction("exp", (0,)), Instruction("rest", (1,)), Instruction("double_", (2,)))))
def test_random_programs_are_drawn_as_they_ran(program: Program):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool, _ = program.run(av)
        roots = []
        for t in pool:
            try:
                _ = t.grad_fn
            except RuntimeError:  # a view that must not be asked any more
                continue
            roots.append(t)
        check(CoreGraph(roots, {f"p{i}": t for i, t in enumerate(roots)}).document)


def test_an_optimizer_step_after_the_pass_changes_no_op_of_the_picture() -> None:
    layer = av.nn.Linear(2, 1)
    loss = layer(av.ones(3, 2)).pow(2).mean()
    before = [op.name for op in CoreGraph([loss], {}).document.ops]
    loss.backward()
    av.optim.SGD(layer.parameters(), 0.1).step()
    document = CoreGraph([loss], {"layer": layer}).document
    assert [op.name for op in document.ops] == before == ["T", "Addmm", "Pow", "Mean"]


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
def test_the_memory_of_a_grad_that_has_a_graph_shows_no_chance_numbers() -> None:
    x = av.tensor(3.0, requires_grad=True)
    (x * x).backward(create_graph=True)
    g = x.grad
    first = next(t for t in CoreGraph([g], {"g": g}).document.tensors if t.name == "g (v0)")
    assert first.value.text == "0."
