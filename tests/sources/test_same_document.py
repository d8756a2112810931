"""One document: the same program in the core and in PyTorch gives the same document and the same steps, ids and all."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import linecache
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import autograd_viz as av
from autograd_viz.graph import Document
from autograd_viz.sources.anything import graph_of, pass_of
from autograd_viz.stepper import Stepper

from ..effort import examples
from ..figures import PROGRAMS
from ..programs import Program, programs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NOTES = Path(__file__).parents[3] / "shared" / "reference" / "seed_examples.json"  # where the checkout has it
RANDOM = {"001-4"}  # draws numbers without a seed
OTHERWISE = {"001-11": "the core remembers nothing of what is made under no_grad"}
CUT = """x = torch.tensor([2.0], requires_grad=True)
a = torch.add(x, 1).detach()
b = torch.add(x, 2)
y = torch.mul(a, b)
y.backward()
"""
CLOSE = 1e-6
SMALL = 1e-12  # rounding, where terms cancel


def differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Where two values differ; numbers may differ in rounding, and then their text may."""
    if dataclasses.is_dataclass(a) and type(a) is type(b):
        names = [f.name for f in dataclasses.fields(a)]
        if type(a).__name__ == "Value" and a.numbers:
            names.remove("text")
        return [d for n in names for d in differences(getattr(a, n), getattr(b, n), f"{path}.{n}")]
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b, strict=True)) for d in differences(x, y, f"{path}[{i}]")]
    if isinstance(a, float) and isinstance(b, float):
        same = a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=CLOSE, abs_tol=SMALL)
        return [] if same else [f"{path}: {a} | {b}"]
    return [] if a == b else [f"{path}: {a} | {b}"]


def comparable(document: Document) -> Document:
    """Without what PyTorch does not tell: which memory a tensor had that is gone, and where retain_grad() was called.

    The core does not tell which functions are around an op.
    """
    tensors = tuple(dataclasses.replace(t, shares=()) for t in document.tensors)
    ops = tuple(dataclasses.replace(o, call=None) for o in document.ops)
    made = tuple(s for s in document.statements if s.kind == "make")
    return dataclasses.replace(document, tensors=tensors, ops=ops, statements=made, calls=())


def run(code: str, module: Any) -> dict[str, Any]:
    """The namespace after running a program; one that raises ends there."""
    name = f"<program {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    namespace: dict[str, Any] = {"torch": module, "__name__": "program"}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        exec(compile(code, name, "exec"), namespace)
    return namespace


def both(code: str) -> tuple[dict[str, Any], dict[str, Any]]:
    with av.record():
        theirs = run(code, torch)
    return run(code, av), theirs


@pytest.mark.parametrize("number", PROGRAMS)
def test_the_six_figures(number: int) -> None:
    root, code = PROGRAMS[number]
    ours, theirs = both(code)
    a, b = (comparable(graph_of(n[root], n).document) for n in (ours, theirs))
    assert differences(a, b) == []
    assert len(a.tensors) > 2


def programs_of_the_notes() -> list[Any]:
    """The programs by their ids; none where the checkout has no notes beside it."""
    snippets = json.loads(NOTES.read_text(encoding="utf-8"))["snippets"] if NOTES.exists() else []
    left_out = RANDOM | OTHERWISE.keys()
    return [(s["id"], s["code"].replace("import torch\n", "")) for s in snippets if s["id"] not in left_out]


@pytest.mark.filterwarnings("ignore")
def test_the_programs_of_the_notes() -> None:
    compared = 0
    for id, code in [("a branch that was cut", CUT), *programs_of_the_notes()]:
        ours, theirs = both(code)
        roots = [n for n, v in ours.items() if isinstance(v, av.Tensor)]
        for root in roots:
            a, b = (comparable(graph_of(n[root], n).document) for n in (ours, theirs))
            assert differences(a, b) == [], (id, root)
            compared += 1
    assert compared >= 4


def steppers(program: Program) -> list[Stepper]:
    """The program stepped to its end in the core and in PyTorch."""
    found = []
    for module in (av, torch):
        with av.record():
            leaves, pool = program.run(module)
        place = next((i for i, t in reversed(list(enumerate(pool))) if t.grad_fn is not None), None)
        assume(place is not None)
        root = pool[place]
        graph = graph_of(root, {f"x{i}": t for i, t in enumerate(leaves)})
        found.append(Stepper(graph.document, pass_of(graph, root, module.ones_like(root), None, False)))
        found[-1].finish()
    return found


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs_and_their_steps(program: Program) -> None:
    ours, theirs = steppers(program)
    assert differences(comparable(ours.document), comparable(theirs.document)) == []
    steps = [[dataclasses.replace(s, sentence="", formulas=(), named=()) for s in x.trace.steps] for x in (ours, theirs)]
    assert differences(tuple(steps[0]), tuple(steps[1])) == []
    for a, b in zip(ours.trace.steps, theirs.trace.steps, strict=True):
        assert [f.text.split(" = ")[0] for f in a.formulas] == [f.text.split(" = ")[0] for f in b.formulas]
        assert [(n.text.split(" = ")[:2], n.terms, n.sign) for n in a.named if n.terms] == [
            (n.text.split(" = ")[:2], n.terms, n.sign) for n in b.named if n.terms
        ]
        assert a.sentence.split(" ")[0] == b.sentence.split(" ")[0]


def test_a_recorded_pass_is_stepped_in_pytorchs_order() -> None:
    """The rules of a node run in the order of their inputs' names, which tells when their ops are stepped through."""

    def stepped(module: Any) -> list[Any]:
        x = module.tensor(2.0, requires_grad=True)
        y = x * x * x
        (g,) = module.autograd.grad(y, x, create_graph=True)
        s = av.step(g * g)
        s.finish()
        return [(step.node, [v and v.text for v in step.grad_outputs]) for step in s.stepper.trace.steps]

    assert stepped(av) == stepped(torch)
