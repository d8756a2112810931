"""What repeats is called by the class of its modules, or by the lines of its loop."""

from __future__ import annotations

from dataclasses import replace
from inspect import currentframe

import pytest

import autograd_viz as av
from autograd_viz.graph.collapse import titled
from autograd_viz.graph.groups import Group, group_tree
from autograd_viz.graph.model import Document
from autograd_viz.graph.surroundings import Source
from autograd_viz.sources.twin.graph import CoreGraph


def repeat_in(document: Document) -> Group:
    (found,) = (g for g in group_tree(document).groups if g.kind == "repeat")
    return found


def looped(turns: int) -> Document:
    """A loop with two statements."""
    h = av.tensor(0.5, requires_grad=True)
    for _ in range(turns):
        h = h * 2
        h = h.sin()
    return CoreGraph([h], {}).document


def test_equal_modules_are_called_by_their_paths_and_their_class() -> None:
    model = av.nn.TransformerEncoder(av.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 6)
    loss = model(av.ones(1, 2, 4)).sum()
    repeat = repeat_in(CoreGraph([loss], {}).document)
    assert (repeat.title, repeat.name) == ("layers.0 … layers.5", "TransformerEncoderLayer")
    assert titled(replace(repeat, name="Block")) == "layers.0 … layers.5 · Block × 6"
    assert titled(next(iter(repeat.groups))) == "layers.0 · TransformerEncoderLayer"


def test_a_long_title_keeps_the_count_and_the_class_or_the_path() -> None:
    repeat = Group("g0", "repeat", "encoder.layers.0 … encoder.layers.11", 0, 9, (), 12, "TransformerEncoderLayer")
    assert titled(repeat) == "TransformerEncoderLayer × 12"
    module = Group("g0", "module", "encoder.layers.0.self_attn", 0, 9, (), 1, "MultiheadAttention")
    assert titled(module) == "encoder.layers.0.self_attn"


def test_without_classes_equal_modules_are_called_by_their_paths() -> None:
    model = av.nn.TransformerEncoder(av.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 6)
    loss = model(av.ones(1, 2, 4)).sum()
    document = replace(CoreGraph([loss], {}).document, modules=())
    assert titled(repeat_in(document)) == "layers.0 … layers.5 × 6"


def test_a_row_of_modules_is_called_by_their_classes_not_by_numbers_and_ops() -> None:
    model = av.nn.Sequential(*(m for _ in range(6) for m in (av.nn.Linear(2, 2), av.nn.Tanh())))
    assert titled(repeat_in(CoreGraph([model(av.ones(1, 2))], {}).document)) == "Linear, Tanh × 6"


def test_a_loop_around_a_module_is_called_by_its_line() -> None:
    body = av.nn.Sequential(av.nn.Linear(2, 2), av.nn.Tanh(), av.nn.Linear(2, 2))
    y, frame = av.ones(1, 2), currentframe()
    assert frame is not None
    for _ in range(50):
        y, line = y + 0.1 * body(y), frame.f_lineno
    assert titled(repeat_in(CoreGraph([y], {}).document)) == f"line {line} × 50"


def test_a_repeated_op_keeps_its_name_before_its_line() -> None:
    h, frame = av.tensor(0.5, requires_grad=True), currentframe()
    assert frame is not None
    for _ in range(40):
        h, line = h.sin(), frame.f_lineno
    assert titled(repeat_in(CoreGraph([h], {}).document)) == f"Sin · line {line} × 40"


@pytest.mark.parametrize(
    ("files", "title"),
    [
        (("loop.py", "loop.py", "loop.py"), "lines 7 – 8 × 9"),
        (("src/loop.py", "src/loop.py", "model.py"), "loop.py:7 – 8 × 9"),
        (("<cell>", "<cell>", "model.py"), "lines 7 – 8 × 9"),
        (("a.py", "b.py", "b.py"), "Mul, Sin × 9"),
        ((None, None, None), "Mul, Sin × 9"),
    ],
)
def test_a_line_names_its_file_if_there_are_several(files: tuple[str | None, ...], title: str) -> None:
    """The last file is that of an op after the loop."""
    document = looped(9)
    ops = list(document.ops)
    for i, op in enumerate(ops):
        file = files[i % 2]
        ops[i] = replace(op, source=None if file is None else Source(file, 7 + i % 2, 7 + i % 2, 0, 9))
    last = None if files[2] is None else Source(files[2], 3, 3, 0, 9)
    end = replace(ops[-1], id="o99", name="Sum", inputs=(), outputs=(), node=None, source=last)
    assert titled(repeat_in(replace(document, ops=(*ops, end)))) == title


def test_a_loop_in_a_function_is_called_by_both() -> None:
    def rollout() -> tuple[av.Tensor, int]:
        h, frame = av.tensor(0.5, requires_grad=True), currentframe()
        assert frame is not None
        for _ in range(40):
            h, line = h.sin(), frame.f_lineno
        return h, line

    h, line = rollout()
    assert titled(repeat_in(CoreGraph([h], {}).document)) == f"Sin · rollout, line {line} × 40"
