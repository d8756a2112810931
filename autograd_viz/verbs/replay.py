"""Questions about a model that is watched, when nothing has recorded its program: its last pass runs again, recorded."""

from __future__ import annotations

from dataclasses import replace

from ..answers.causes.question import Question
from ..sources.shared.run.results import run_with
from .questions import question_of


def asked_again(questions: list[tuple[Question, str]]) -> list[tuple[Question, str]]:
    """The same questions, about the last pass of the run that watches these leaves.

    One stays whose gradient is another now: a later line has changed it.
    """
    runs = [None if q.history.is_recorded or q.root is not None else run_with(q.tensor) for q, _ in questions]
    run = next((run for run in runs if run is not None), None)
    if run is None:
        return questions
    try:
        with run.opened(run.moment()) as again:
            again.root.backward(again.gradient, retain_graph=True)
    except Exception:  # it cannot run again: the questions are answered by what is known
        return questions
    results, gradients = (all(bool(t.isfinite().all()) for t in of) for of in zip(*again.reached, strict=True))
    if results and not gradients:  # it was born after the model, in code that does not run again
        return questions
    paths = {p: path for path, p in run.model().named_parameters()}
    model = next((f"{name}." for name, value in questions[0][0].names.items() if value is run.model()), "")
    names = {f"{model}{path}": leaf for path, leaf in again.leaves.items()} | {"the result": again.root}
    found = []
    for (q, name), own in zip(questions, runs, strict=True):
        leaf = again.leaves.get(paths.get(q.tensor, "")) if own is run else None
        other = None if leaf is None else replace(question_of(leaf, again.root, names), parameter=q.tensor)
        found.append((q if other is None or other.state != q.state else other, name))
    return found
