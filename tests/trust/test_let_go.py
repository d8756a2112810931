"""Cells that run again: what is bound anew is let go, without `close()`."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import autograd_viz as av

from ..libraries import BOTH

CELLS = {
    "show": "f = av.show(loss)",
    "map": "m = av.map(loss); m.document, m.svg",
    "map of a recording": "with av.record(net): loss = net(x).pow(2).sum()\nm = av.map(loss)",
    "map of a stepper": "s = av.step(loss); m = av.map(s)",
    "step": "s = av.step(loss)",
    "step to the end": "s = av.step(loss); s.finish()",
    "step and back": "s = av.step(loss); s.next(); s.back()",
    "step, closed": "s = av.step(loss); s.finish(); s.close()",
    "compare": "c = av.compare(av.step(loss), av.step(y.abs().sum()), titles=['a'])",
    "memory": "q = av.memory(loss); q.svg",
    "diff": "d = av.diff(loss, net(x).abs().sum()); d.svg",
    "diff of functions": "d = av.diff(lambda: net(x).pow(2).sum(), lambda: net(x).abs().sum())",
    "explain": "loss.backward(); e = av.explain(net[0].weight)",
    "explain what has no graph": "e = av.explain(net[0].weight); e.document",
    "explain, with a picture": "loss.backward(); e = av.explain(net[0].weight, show=True)",
    "explain an error": "loss.backward()\ntry: loss.backward()\nexcept RuntimeError as error: e = av.explain(error)",
    "save": "av.save(loss, path); av.save(av.map(loss), path)",
    "iframe": "i = av.iframe(loss)",
    "to_graphviz": "g = av.to_graphviz(loss)",
    "watch": "run = av.watch(net)",
    "watch a loop": "run = av.watch(net); train(net)",
    "watch, in nobody's hand": "av.watch(net); train(net)",
    "watch, opened": "run = av.watch(net); train(net); s = run.step(); m = run.map(); run.svg, run.widget()",
}
MODEL = """
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)); x = torch.ones(5, 3); y = net(x); loss = y.pow(2).sum()
alive.append([*map(weakref.ref, (net, net[0].weight, y, loss))])
"""
PRELUDE = """
def train(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net(x).pow(2).sum().backward()
        optimizer.step()
"""


def most_alive(torch: Any, cell: str, path: Path) -> int:
    """How many models, parameters, results or losses are alive after a cell has run four times."""
    alive: list[Any] = []
    names = {"torch": torch, "nn": torch.nn, "av": av, "alive": alive, "weakref": weakref, "path": path}
    exec(PRELUDE, names)
    for _ in range(4):
        exec(compile(MODEL + cell, "<cell>", "exec"), names)
    gc.collect()
    found = max(sum(ref() is not None for ref in kind) for kind in zip(*alive, strict=True))
    names.clear()
    return found


@pytest.mark.parametrize("cell", [c for c in CELLS.values() if "record" not in c], ids=[c for c in CELLS if "record" not in c])
def test_what_a_cell_has_made_before_goes_when_it_runs_again(cell: str, tmp_path: Path) -> None:
    assert most_alive(av, cell, tmp_path / "x.html") <= 2  # a run without a model ends at the next pass or watch


@pytest.mark.torch
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_what_a_cell_has_made_of_pytorch_goes_when_it_runs_again(cell: str, tmp_path: Path) -> None:
    assert most_alive(pytest.importorskip("torch"), cell, tmp_path / "x.html") <= 2


def test_a_notebook_holds_what_it_has_shown() -> None:
    """As its page may move it."""
    a = av.tensor(2.0, requires_grad=True)
    stepper = av.step(a * a)
    seen = weakref.ref(stepper)
    assert stepper._repr_mimebundle_() is not None
    del stepper
    gc.collect()
    assert seen() is not None
    seen().close()


def test_a_shell_that_runs_a_cell_again_keeps_one_stepper() -> None:
    shell = InteractiveShell()
    seen: list[Any] = []
    shell.push({"av": av, "seen": seen, "weakref": weakref})
    for _ in range(3):
        shell.run_cell(
            "a = av.ones(2, requires_grad=True); s = av.step((a * a).sum()); s.finish(); seen.append(weakref.ref(s))"
        )
    gc.collect()
    assert sum(ref() is not None for ref in seen) == 1


def test_the_answers_of_a_loop_over_models_hold_none_of_them() -> None:
    answers, models = [], []
    for _ in range(3):
        net = av.nn.Linear(2, 1)
        net(av.ones(2)).sum().backward()
        answers.append(av.explain(net.weight))
        models.append(weakref.ref(net))
    del net
    gc.collect()
    assert all(str(a) for a in answers)
    assert [ref() for ref in models] == [None] * 3


@pytest.mark.parametrize("torch", BOTH)
def test_a_watched_model_without_a_run_is_still_stopped_before_nan(torch: Any) -> None:
    net = torch.nn.Linear(1, 1)
    av.watch(net)  # nobody keeps the run
    gc.collect()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    (net(torch.ones(1)) * float("nan")).sum().backward()
    with pytest.raises(av.NotFiniteError):
        optimizer.step()


@pytest.mark.parametrize("torch", BOTH)
def test_a_run_outlives_the_name_of_its_model(torch: Any) -> None:
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with av.watch(net) as run:
        net(torch.ones(2)).sum().backward()
        optimizer.step()
        del net, optimizer
        gc.collect()
        assert run.step().stepper.document.nodes
        assert len(run.totals()["loss"]) == 1


def test_the_figure_of_a_card_reads_the_graph_as_long_as_it_is_there() -> None:
    net = av.nn.Sequential(av.nn.Linear(3, 2), av.nn.ReLU())
    loss = net(av.ones(3)).sum()
    shown = av.map(loss)
    whole = shown.document
    assert whole.roots and [t.id for t in whole.tensors] == [t.id for t in shown.drawing.document.tensors]
    del loss
    gc.collect()
    assert shown.document == whole  # the map holds the root
    drawing = shown.drawing
    del shown
    gc.collect()
    assert drawing.whole is not None and drawing.whole().roots == whole.roots
