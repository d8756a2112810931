"""A recorded step as the front end wants it: which words stand where before and after, so it can go both ways alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from ..graph.codec import to_plain
from ..graph.collapsed import Collapsed
from ..graph.model import Value
from ..graph.trace import State, Step, Trace
from ..reasons.why import Why
from ..render import Theme, Writer
from ..render.pen import cell_address
from ..render.writer import Lines, moving


class FrameMaker:
    """Turns the steps of one document into frames, in order."""

    def __init__(self, shown: Collapsed, theme: Theme) -> None:
        self.shown = shown
        self.writer = Writer(shown.document, theme)
        self.called: Counter[str] = Counter()  # of groups only, on whose boxes it is written
        self.values: dict[str, Value | None] = {}
        self.current: Step | None = None
        self.steps: list[Step] = []
        self.why = Why(shown.whole)

    def frame(self, step: Step, sentence: str) -> dict[str, Any]:
        """The next frame.

        Returns:
            node: id of the node to light; sentence: what to say; changes: (address, lines before, lines after);
            fresh: addresses to light; moves: (address of an arrow, the number that runs along it); step: the step as JSON;
            why: by tensor, where the reason for its grad is another now.
        """
        why = self.why.after(step, Trace(tuple(self.steps)))
        self.steps.append(step)
        is_hidden, step = step.node in self.shown.shown, self.shown.step(step)
        addresses = list(dict.fromkeys(cell_address(c.at) for c in step.changes))
        settling = self.current.accumulation if self.current else None  # its row still says old + incoming = new
        written = [*addresses, f"{settling.tensor}.grad"] if settling else addresses
        before = State(dict(self.values), self.current, called=dict(self.called))
        if is_hidden:
            self.called[step.node] += 1
            written.append(f"{step.node}.called")
        self.values |= {c.at: c.after for c in step.changes}
        self.current = step
        after = State(self.values, step, called=self.called)
        now = {at: plain_lines(self.writer.lines(at, after)) for at in dict.fromkeys(written)}
        changes = [(at, plain_lines(self.writer.lines(at, before)), lines) for at, lines in now.items()]
        return {
            "node": step.node,
            "sentence": sentence,
            "changes": [c for c in changes if c[1] != c[2]],
            "fresh": addresses,
            "moves": [(c.at, now[c.at][0][0][0]) for c in moving(step)],  # the text of the label's only run
            "step": to_plain(replace(step, sentence="")),
            "why": {t: reason for t, reason in why.items() if self.shown.draws(t)},
        }


def plain_lines(lines: Lines) -> list[list[list[str]]]:
    """Lines as JSON."""
    return [[[run.text, run.role] for run in line] for line in lines]
