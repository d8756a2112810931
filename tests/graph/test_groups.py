"""Groups of ops: modules, scopes, repetition, and stretches of what is left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.graph.groups import MOST, Group, group_tree, opened_first
from autograd_viz.graph.model import Document, Op, Operand, Tensor, Value
from autograd_viz.graph.repeats import LEAST, repeats
from autograd_viz.sources.twin.graph import CoreGraph


def all_groups(tree: Group) -> Iterator[Group]:
    stack = [tree]
    while stack:
        stack += (group := stack.pop()).groups
        yield group


def tree_of(root: av.Tensor, **names: object) -> Group:
    return group_tree(CoreGraph([root], names).document)


def modules(*paths: str) -> Document:
    """Ops of equal kind in these modules, one after the other."""
    tensors = tuple(
        Tensor(f"t{i}", None, Value((), "float32", "0."), None, None, 0, True, False) for i in range(len(paths) + 1)
    )
    ops = tuple(Op(f"o{i}", f"Op{i}", (Operand(f"t{i}"),), (f"t{i + 1}",), module=path) for i, path in enumerate(paths))
    return Document(tensors, ops)


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ([], []),
        ([1, 2, 3], []),
        ([1, 1], []),
        ([1, 1, 1], [(0, 1, 3)]),
        ([9, 1, 2, 1, 2, 1, 2, 1, 8], [(1, 2, 3)]),
        ([1, 1, 2, 1, 1, 2, 1, 1, 2], [(0, 3, 3)]),  # the whole, not the two ones in it
        ([1, 2, 1, 2, 1, 2, 7, 7, 7, 7], [(0, 2, 3), (6, 1, 4)]),
    ],
)
def test_repetitions_are_found_with_their_shortest_turn(items: list[int], found: list[tuple[int, int, int]]) -> None:
    assert [tuple(r) for r in repeats(items)] == found


@given(st.lists(st.integers(0, 3), max_size=60))
def test_what_is_called_a_repetition_is_one(items: list[int]) -> None:
    end = 0
    for r in repeats(items):
        assert r.start >= end and r.turns >= LEAST
        turn = items[r.start : r.start + r.period]
        assert items[r.start : r.end] == turn * r.turns
        end = r.end


def test_modules_nest_by_their_paths_and_a_second_call_is_another_group() -> None:
    tree = group_tree(modules("a.x", "a.x", "a.y", "a.y", "b", "b", "a.x", "a.x"))
    assert [(g.title, g.first, g.last) for g in tree.groups] == [("a", 0, 4), ("b", 4, 6), ("a.x", 6, 8)]
    assert [g.title for g in next(iter(tree.groups)).groups] == ["a.x", "a.y"]


def test_a_module_of_one_op_is_that_op() -> None:
    assert group_tree(modules("a.relu", "a.lin", "a.lin", "")).items[1] == 3
    assert [
        item if isinstance(item, int) else item.title for item in group_tree(modules("a.relu", "a.lin", "a.lin")).items
    ] == ["a"]


def test_equal_blocks_are_one_repetition() -> None:
    layer = av.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    model = av.nn.TransformerEncoder(layer, 6)
    loss = model(av.ones(1, 2, 4)).sum()
    tree = tree_of(loss, model=model, loss=loss)
    repeat = next(iter(tree.groups))
    assert (repeat.kind, repeat.title, repeat.count) == ("repeat", "layers.0 … layers.5", 6)
    assert [g.title for g in repeat.groups] == [f"layers.{i}" for i in range(6)]


def test_blocks_of_other_shapes_are_not_equal() -> None:
    sizes = [2, 3, 4, 5, 6]
    model = av.nn.Sequential(
        *(av.nn.Sequential(av.nn.Linear(a, b), av.nn.ReLU()) for a, b in zip(sizes, sizes[1:], strict=False))
    )
    loss = model(av.ones(1, 2)).sum()
    assert all(g.count == 1 for g in all_groups(tree_of(loss)))


def test_a_loop_is_a_repetition_of_its_statements() -> None:
    h = w = av.tensor(0.5, requires_grad=True)
    for _ in range(1000):
        h = h * w
        h = h.sin()
    (loop,) = tree_of(h).groups
    line = test_a_loop_is_a_repetition_of_its_statements.__code__.co_firstlineno + 3
    assert (loop.kind, loop.title, loop.count, loop.last) == ("repeat", f"lines {line} – {line + 1}", 1000, 2000)
    assert next(iter(loop.groups)).title.startswith("1 – ")


def test_scopes_are_groups_and_nest_with_modules() -> None:
    x = av.ones(2, requires_grad=True)
    body = av.nn.Sequential(av.nn.Linear(2, 2), av.nn.Tanh(), av.nn.Linear(2, 2), av.nn.Sigmoid())
    with av.scope("net"):
        h = body(x * 2)
        with av.scope("head"):
            loss = (h * h).sum()
    (net,) = tree_of(loss, body=body).groups
    assert net.title == "net" and [g.title for g in net.groups] == ["net.0", "net.2", "net.head"]


def test_parameters_tell_the_modules_of_a_graph_that_nobody_recorded() -> None:
    a, b = (av.tensor([[1.0]], requires_grad=True) for _ in "ab")
    x = av.tensor([[1.0]])
    y = ((x @ a).relu() @ a).tanh() @ b.t()
    document = CoreGraph([y], {"model.body.weight": a, "model.head.weight": b}).document
    assert [(g.title, g.first, g.last) for g in all_groups(group_tree(document))][1:] == [
        ("model", 0, 6), ("model.head", 4, 6), ("model.body", 0, 3),
    ]  # fmt: skip


@given(st.lists(st.sampled_from(["", "a", "a.b", "a.b.c", "a.c", "d"]), max_size=80), st.integers(0, 5))
def test_every_op_is_in_the_tree_once_in_order_and_no_group_is_too_large(paths: list[str], more: int) -> None:
    document = modules(*paths, *([""] * (MOST * more)))
    tree = group_tree(document)
    order, stack = [], [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, Group):
            assert len(item.items) <= MOST
            stack += reversed(item.items)
        else:
            order.append(item)
    assert order == list(range(len(document.ops)))
    ids = [g.id for g in all_groups(tree)]
    assert len(ids) == len(set(ids))


def test_at_first_modules_are_open_while_the_picture_stays_small_and_repetitions_are_not() -> None:
    paths = [f"net.{part}.{i}" for part in ("in", "out") for i in range(3) for _ in range(5)]
    tree = group_tree(modules(*paths))
    opened = opened_first(tree)
    titles = {g.title for g in all_groups(tree) if g.id in opened and g is not tree}
    assert {"net", "net.in", "net.out"} <= titles
    assert opened_first(tree, 0) == {tree.id, next(g.id for g in all_groups(tree) if g.title == "net")}  # what is alone
    h = av.tensor(0.5, requires_grad=True)
    for _ in range(100):
        h = h.sin()
    loop = tree_of(h)
    assert opened_first(loop) == {loop.id}


def test_an_op_with_very_many_leaves_is_a_group_that_hides_them() -> None:
    xs = [av.tensor(float(i), requires_grad=True) for i in range(3000)]
    loss = av.stack(xs).sum()
    figure = av.show(loss)
    assert repr(figure) == "<Figure of loss: 3,002 backward nodes, 1 group collapsed>"
    assert "Stack, 3,000 leaves" in figure.svg and "3,001 nodes" in figure.svg
    s = av.step(loss)
    s.finish()
    assert s.stepper.step == 3002 and xs[-1].grad is not None and xs[-1].grad.item() == 1.0


def test_an_op_with_many_leaves_is_drawn_whole_if_asked_and_names_them_briefly() -> None:
    xs = [av.tensor(float(i), requires_grad=True) for i in range(80)]
    figure = av.show(av.stack(xs).sum(), collapse=False)
    assert repr(figure) == f"<Figure of {', '.join(f'xs[{i}]' for i in range(11))}, …, xs[79]: 82 backward nodes>"
