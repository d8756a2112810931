"""The recorder notes what the program does, and nothing of what our own code does beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from autograd_viz.sources.pytorch.reading.op_log import Log  # noqa: E402
from autograd_viz.sources.pytorch.reading.op_pages import WIDTH  # noqa: E402

from ..explain.explained import LIBRARIES, kinds, run  # noqa: E402

pytestmark = pytest.mark.torch
Verb = Callable[[Any, Any], object]  # with a model and a loss


def net() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def adam(model: Any) -> None:
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        (model(torch.randn(8, 2)).pow(2).mean() + model[2](torch.ones(1, 3)).sum()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def lbfgs(model: Any) -> None:
    optimizer, x = torch.optim.LBFGS(model.parameters(), max_iter=2), torch.randn(8, 2)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)


def accumulated(model: Any) -> None:
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for k in range(4):
        model(torch.randn(4, 2)).pow(2).mean().backward()
        if k % 2:
            optimizer.step()
            optimizer.zero_grad()


def scaled(model: Any) -> None:
    optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler("cpu")
    scaler.scale(model(torch.randn(4, 2)).pow(2).mean()).backward()
    scaler.step(optimizer)
    scaler.update()


LOOPS = [adam, lbfgs, accumulated, scaled]


def noted(log: Log) -> Any:
    """Everything that the recorder has noted, without numbers."""
    rows = [r for page in log._pages.values() for r in zip(*[iter(page.rows)] * WIDTH, strict=True)]
    ops = [(func, code, at) for _, func, code, at, _ in rows]
    lists = (log.passes, log.cleared, log.steps, log.modes, log.switches, log.optimizers, log.scalers, log.left, log.places)
    events = [[(e.name, None if e.source is None else (e.source.file, e.source.line)) for e in several] for several in lists]
    notes = [[(e.kind, e.name) for e in note.events] for note in log._notes.values() if note.events]
    used = [None if leaf.used == () else leaf.used[:3] for _, leaf in log.leaves()]
    return ops, events, sorted(notes), used


@contextmanager
def watched() -> Iterator[Any]:
    with warnings.catch_warnings(), av.watch() as recorder:
        warnings.simplefilter("ignore")
        yield recorder
        assert not recorder.faults


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("is_later", [False, True], ids=["run after", "run before"])
def test_a_run_is_not_noted(loop: Callable[[Any], None], is_later: bool) -> None:
    model = net()
    with watched() as recorder:
        loop(model)
        alone = noted(recorder.log)
    model = net()
    early = av.watch(model) if is_later else None
    with watched() as recorder, early or av.watch(model) as run:
        run.keep(every=1)
        loop(model)
        run.frame(), run.odd(), run.flushed()
        run.step().stepper.finish()
        run.map(0)
        assert noted(recorder.log) == alone


VERBS: dict[str, Verb] = {
    "show": lambda model, loss: av.show(loss).svg,
    "step": lambda model, loss: av.step(loss).finish(),
    "step back": lambda model, loss: (s := av.step(loss)).next() or s.back(),
    "map": lambda model, loss: av.map(loss).svg,
    "memory": lambda model, loss: str(av.memory(loss)),
    "gather": lambda model, loss: str(av.gather(loss)),
    "explain": lambda model, loss: str(av.explain(model[0].weight, loss)),
    "watch": lambda model, loss: av.watch(model).close(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_not_noted(verb: str) -> None:
    model = net()
    with watched() as recorder:
        loss = model(torch.randn(4, 2)).pow(2).mean()
        alone = noted(recorder.log)
        VERBS[verb](model, loss)
        assert noted(recorder.log) == alone


def test_what_follows_own_code_is_noted_again() -> None:
    """Also after an error, and in the step of an optimizer that our code has stopped."""
    model, x = net(), torch.full((1, 2), float("nan"))
    with watched() as recorder, av.watch(model) as run:
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(x).sum().backward()
        with pytest.raises(av.NotFiniteError):
            optimizer.step()
        with suppress(KeyError):
            run.step(99)
        h = model[0](torch.ones(1, 2)).detach()
        assert [e.name for e in recorder.log.steps] == ["SGD"] and len(recorder.log.passes) == 1
        assert av.explain(h).causes[0].kind == "cut_detach"


def test_the_step_of_an_optimizer_goes_on_unseen_after_own_code() -> None:
    model = net()
    with watched() as recorder, av.watch(model) as run:
        run.keep(every=1)
        optimizer = torch.optim.Adam(model.parameters(), 0.1, foreach=False)
        model(torch.ones(1, 2)).sum().backward()
        written = len(recorder.log.all_events("written"))
        optimizer.step()
        assert len(recorder.log.all_events("written")) == written


# -- what explain says --------------------------------------------------------------------------------------------------

BOTH = LIBRARIES
ONE_LINE = """
model = torch.nn.Linear(2, 1)
o, x, run = torch.optim.SGD(model.parameters(), 0.1), torch.ones(8, 2), av.watch(model)
for _ in range(3): o.zero_grad(); loss = model(x).pow(2).mean(); loss.backward(); o.step()
run.step()
run.close()
"""


def library_of(name: str) -> Any:
    return torch if name == "torch" else av


@BOTH
def test_no_read_of_the_run_is_a_read_of_the_program(library: str) -> None:
    """A number that is read in the line of the loss would be a part of the way to it."""
    answer = run(ONE_LINE, library, "model.weight", watched=True)
    assert kinds(answer)[0].startswith("fine"), answer
    answer = run(ONE_LINE.replace(".mean()", ".mean() * model.weight.sum().item()"), library, "model.weight", watched=True)
    assert kinds(answer)[0] == "lacks_number", answer


@BOTH
def test_after_a_stop_the_cause_is_what_it_was_before(library: str) -> None:
    t = library_of(library)
    model = t.nn.Linear(2, 3)
    optimizer, x = t.optim.SGD(model.parameters(), 0.1), t.ones(4, 2)
    with av.watch(), av.watch(model) as run:
        model(x).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        loss = (model(x) - model(x)).pow(2).sum(1).sqrt().mean()
        loss.backward()
        before = av.explain(model.weight)
        with pytest.raises(av.NotFiniteError):
            optimizer.step()
        run.step()
        after = av.explain(model.weight)
    assert str(after) == str(before) and before.causes[0].kind == "born_sqrt"


@BOTH
def test_a_loss_without_a_graph_is_told_as_before_although_a_pass_was_opened(library: str) -> None:
    """A copy of a call's input is told not to require grad. Nothing of the program's was switched off."""
    t = library_of(library)
    model, x = t.nn.Linear(2, 1), t.ones(4, 2)
    optimizer = t.optim.SGD(model.parameters(), 0.1)
    with av.watch(), av.watch(model) as run:
        model(x).mean().backward()
        optimizer.step()
        run.step()
        try:
            (x * 2).sum().backward()
        except RuntimeError as error:
            assert [c.kind for c in av.explain(error).causes] == ["root_of_data"]


def test_an_unused_layer_is_not_used() -> None:
    model = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])
    with watched(), av.watch(model):
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model[0](torch.ones(1, 2)).sum().backward()
        optimizer.step()
        model[0](torch.ones(1, 2)).sum().backward()
        assert [c.kind for c in av.explain(model[1].weight).causes] == ["not_used"]
