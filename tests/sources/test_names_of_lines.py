"""What no variable names any more is called as its line, or as the model's `forward`, called it."""

from __future__ import annotations

import ast
import textwrap
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph import Document
from autograd_viz.graph.surroundings import Source
from autograd_viz.sources.anything import graph_of
from autograd_viz.sources.shared.source_code import statement_at

from ..libraries import BOTH, torch


def names(root: Any, variables: Any = None) -> list[str | None]:
    document: Document = graph_of(root, variables or {}).document
    return [t.name for t in document.tensors]


def recorded(library: Any, make: Any) -> Any:
    with av.record() if library is torch else nullcontext():
        return make(library)


def product(library: Any) -> Any:
    a = library.tensor(2.0, requires_grad=True)
    b: Any = (library.tensor(3.0)).requires_grad_()
    c = a * b
    return c * a * b


@pytest.mark.parametrize("library", BOTH)
def test_tensors_of_a_function_that_has_returned_keep_the_names_of_their_lines(library: Any) -> None:
    assert names(recorded(library, product)) == ["a", "b", "c", None, None]


@pytest.mark.parametrize("library", BOTH)
def test_a_variable_that_lives_has_its_name_to_itself(library: Any) -> None:
    root = recorded(library, product)
    assert names(root, {"c": root}) == ["a", "b", None, None, "c"]


SCRIPT = (
    "a = library.tensor(2.0, requires_grad=True)\nb = library.tensor(3.0, requires_grad=True)\nc = a * b\nend = c * a * b\n"
)


@pytest.mark.parametrize("library", BOTH)
def test_a_name_that_means_something_else_by_now_is_not_told(library: Any, tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    variables: dict[str, Any] = {"library": library}
    recorded(library, lambda library: exec(compile(SCRIPT, str(file), "exec"), variables))
    assert names(variables["end"], {"a": library.ones(3), "b": None}) == [None, None, "c", None, "end"]
    assert names(variables["end"], {"c": None}) == ["a", "b", None, None, "end"]


@pytest.mark.parametrize("library", BOTH)
def test_a_local_variable_is_another_than_the_callers_of_the_same_name(library: Any) -> None:
    root = recorded(library, product)
    assert names(root, {"a": library.ones(3), "c": None}) == ["a", "b", "c", None, None]


def of_leaves(library: Any) -> Any:
    a, b = [library.tensor(number, requires_grad=True) for number in (2.0, 3.0)]
    return a * b


def twice_the_name(library: Any) -> Any:
    a, b = [library.tensor(number, requires_grad=True) for number in (2.0, 3.0)]
    found = a * b
    a = library.tensor([4.0], requires_grad=True)[0]
    return found + a * b


@pytest.mark.parametrize("library", BOTH)
def test_operands_of_an_operator_are_called_as_the_code_calls_them(library: Any) -> None:
    assert names(recorded(library, of_leaves)) == ["a", "b", None]
    found = names(recorded(library, twice_the_name))  # two tensors were called a: the line of the second names it
    assert found.count("a") <= 1 and found[0] is None and "b" in found


def loop(library: Any) -> Any:
    h = library.tensor(2.0, requires_grad=True)
    for _ in range(2):
        h = h.sin() * 2
    x = h * h
    x = x + 1
    return (x, x * 2)[1]


@pytest.mark.parametrize("library", BOTH)
def test_of_many_assignments_to_one_name_the_last_has_it(library: Any) -> None:
    assert names(recorded(library, loop)) == [None, None, None, None, "h", None, "x", None]


def not_whole(library: Any) -> Any:
    a, b = library.ones(2, requires_grad=True), [library.ones(2)]
    c = max(a.sum(), b[0].sum())
    return c * 2


@pytest.mark.parametrize("library", BOTH)
def test_a_part_of_what_is_assigned_is_not_named(library: Any) -> None:
    assert set(names(recorded(library, not_whole))) == {None}


def net_of() -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.head = torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5)

        def forward(self, input_ids: Any, masks: Any, *, labels: Any = None) -> Any:
            hidden = self.head(self.words(input_ids) * masks["left"])
            return torch.nn.functional.cross_entropy(hidden, labels)

    return Net()


def loss_of(net: Any, is_made_inside: bool) -> Any:
    batch = torch.tensor([1, 2]), {"left": torch.ones(2, 1, requires_grad=True)}
    with av.record(net):
        given = (torch.tensor([1, 2]), {"left": torch.ones(2, 1)}) if is_made_inside else batch
        return net(*given, labels=torch.tensor([0, 1]))


@pytest.mark.torch
@pytest.mark.parametrize("is_made_inside", [True, False])
def test_inputs_are_called_as_the_forward_of_the_model_calls_them(is_made_inside: bool) -> None:
    loss = loss_of(net_of(), is_made_inside)
    found = [n for n in names(loss) if n]
    assert sorted(found) == ["hidden", "input_ids", "labels", "masks['left']"]


@pytest.mark.torch
def test_a_variable_and_a_wrapper_do_not_hide_them() -> None:
    class Wrapper(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.module = net_of()

        def forward(self, *inputs: Any, **more: Any) -> Any:
            return self.module(*inputs, **more)

    net, ids = Wrapper(), torch.tensor([1, 2])
    with av.record(net):
        loss = net(ids, {"left": torch.ones(2, 1)}, labels=torch.tensor([0, 1]))
    assert [n for n in names(loss, {"ids": ids, "loss": loss}) if n] == ["ids", "masks['left']", "labels", "hidden", "loss"]


@pytest.mark.torch
def test_so_is_what_an_input_was_called() -> None:
    loss = loss_of(net_of(), False)
    assert sorted(n for n in names(loss, {"input_ids": torch.tensor([3])}) if n) == ["hidden", "labels", "masks['left']"]


@pytest.mark.torch
def test_two_tensors_that_forward_calls_alike_have_no_name() -> None:
    net = torch.nn.Linear(2, 2)
    with av.record(net):
        loss = (net(torch.ones(1, 2)) - net(torch.zeros(1, 2))).sum()
    assert [n for n in names(loss) if n] == ["loss"]


def test_a_cell_that_runs_without_the_indentation_of_its_file_has_the_places_of_the_file(tmp_path: Path) -> None:
    file, cell = tmp_path / "cells.py", "a = av.tensor(2.0, requires_grad=True)\ndef f(x):\n    return x * a\ny = f(a) + a\n"
    cell += "def each(x):\n    return {k: (x + k).sin() for k in (1, 2)}\nz = each(y)[2]\n"  # in it, nothing begins a line
    file.write_text(f"async def cell():\n{textwrap.indent(cell, '    ')}")
    variables: dict[str, Any] = {"av": av}
    exec(compile(ast.increment_lineno(ast.parse(cell)), str(file), "exec"), variables)  # as marimo does
    document: Document = graph_of(variables["z"], variables).document
    lines = file.read_text().splitlines()
    places = [p.source for p in (*document.tensors, *document.ops) if p.source is not None]
    assert {lines[s.line - 1][s.column : s.end_column] for s in places} == {
        "av.tensor(2.0, requires_grad=True)",
        "x * a",
        "f(a) + a",
        "x + k",
        "(x + k).sin()",
    }
    assert [t.name for t in document.tensors] == ["a", None, "y", None, "z"]


def test_a_condition_is_in_no_simple_statement_and_stands_for_its_line(tmp_path: Path) -> None:
    file = str(tmp_path / "program.py")
    Path(file).write_text("a = f(1)\nif f(a): g(a)", encoding="utf-8")

    def found(line: int, column: int) -> Any:
        return statement_at(Source(file, line, line, column, column + 4, "", ""))

    assert [found(1, 4), found(2, 3), found(2, 9)] == [((1, 0), "a = f(1)"), ((2, 3), "if f(a): g(a)"), ((2, 9), "g(a)")]
    assert found(3, 0) is None
