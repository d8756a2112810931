"""Causes as sentences in the chosen language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ... import words
from ...graph.surroundings import Source
from .cause import Cause
from .check import MAY
from .code import has_record, place_text
from .question import Question

NO_LINE = re.compile(r"\s?[(（]\{line\}[)）]|\{line\}[;；]\s?")  # removed if no line is known
OF_ROOTS = ("cut_", "made_of", "inference", "dtype")  # causes why a loss has no graph
LONGEST = 72  # characters of a line of code
BEST = ("zero_times_inf", "zero_times_inf_product", "outgrown")  # their advice is better than that of the causes before them
BEHIND = ("outgrown",)  # what most likely made the cause before it
ODD = ("none", "zero", "nan", "inf")  # grads whose cause is told as it is; another grad may be right as it is
Page = tuple[object, str] | None  # the check of a kind, and how certain it is that it is a fault
MOST = 2  # causes in the answer itself


class Answer(NamedTuple):
    """The answer itself, and the details on request."""

    short: str
    details: str


def answer(
    q: Question | None, causes: Sequence[Cause], headed: bool = True, of: Callable[[str], Page] = lambda kind: None
) -> Answer:
    """First the cause, then what to do; numbers and lines of code are details. What may be a fault is marked.

    Args:
        q: the question; None if the sentence needs no beginning.
        causes: the causes, the nearest first.
        headed: the answer is about a tensor; False: about an error.
        of: the check of a kind of cause. A cause of another check than the first is another reason, and less likely.
    """
    name = (None if q is None else q.name_of(q.tensor)) or words.THE_TENSOR
    first = causes[:1]
    best = [c for c in causes if c.kind in BEST] or first
    lines = [_first(q, c, name, headed, of(c.kind)) for c in first]
    lines += [words.DO.format(advice=a) for c in best[:1] if (a := advice_of(c, name))]
    others = [_other(of(first[0].kind), of(c.kind), c.kind).format(cause=formed("CAUSE", c, name)) for c in causes[1:]]
    sources = [s for c in causes for s in (c.source, *c.said.values()) if isinstance(s, Source)]
    texts = [(place_text(s), " ".join(s.text.split())) for s in dict.fromkeys(sources)]
    code = [f"{at}: {text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}" for at, text in texts if text]
    details = [*others[MOST - 1 :], *filter(None, (formed("MORE", c, name) for c in causes)), *code]
    return Answer("\n".join([*lines, *dict.fromkeys(others[: MOST - 1])]), "\n".join(dict.fromkeys(details)))


def _other(first: Page, page: Page, kind: str) -> str:
    """How another cause is told: as what made the first, as another reason, or as one that is less likely."""
    if kind in BEHIND:
        return words.BEHIND
    is_apart = first is not None and page is not None and page[0] is not first[0]
    return "{cause}" if not is_apart else words.ALSO_MAY if page is not None and page[1] == MAY else words.ALSO


def _first(q: Question | None, cause: Cause, name: str, headed: bool, page: Page) -> str:
    """The first line: what grad contains, or that a loss has no graph, and why."""
    if q is not None and headed:
        is_unsure = page is not None and page[1] == MAY and q.state not in ODD
        return _head(q, name) + (words.CHECK_MAY if is_unsure else "") + formed("CAUSE", cause, name)
    if q is not None and cause.kind.startswith(OF_ROOTS):
        return of_root(cause, q.name_of(q.tensor) or words.THE_LOSS)
    is_unsure = page is not None and page[1] == MAY and getattr(page[0], "of_run", False)
    return sentence(cause, name, words.CHECK_MAY if q is not None and is_unsure else "")


def of_root(cause: Cause, name: str) -> str:
    """The cause of an error. If it is why a loss has no graph, it says so first."""
    head = words.HEAD_NO_GRAPH.format(name=name) if cause.kind.startswith(OF_ROOTS) else ""
    return head + formed("CAUSE", cause, name)


def sentence(cause: Cause, name: str, begun: str = "") -> str:
    """One cause as a sentence of its own, or after these words."""
    said, template = begun + formed("CAUSE", cause, name), begun + getattr(words, f"CAUSE_{cause.kind.upper()}")
    begins = said.partition(" ")[0]
    is_code = template.startswith("{") or begins.endswith(")") or "_" in begins
    return said if is_code else said[:1].upper() + said[1:]


def _head(q: Question, name: str) -> str:
    if q.state == "none":
        return words.HEAD_NONE.format(name=name)
    if q.state in ("nan", "inf"):
        return (words.HEAD_HAD if q.was_cleared else words.HEAD_BAD).format(name=name, what=q.state)
    zero = words.HEAD_WAS_ZERO if q.was_cleared else words.HEAD_ZERO
    return (zero if q.state == "zero" else words.HEAD).format(name=name)


def advice_of(cause: Cause, name: str) -> str:
    """What to do about a cause; "" if that is not known."""
    meaning = cause.said.get("meaning")
    if isinstance(meaning, str):  # what PyTorch's error means, and after a semicolon what to do
        return meaning.partition(words.SEMICOLON.strip())[2].strip()
    return formed("DO", cause, name)


def formed(prefix: str, cause: Cause, name: str) -> str:
    """One of the texts of a cause; "" if it has no advice, or no more to say."""
    text = f"{prefix}_{cause.kind.upper()}"
    template: str = getattr(words, text) if prefix == "CAUSE" else getattr(words, text, "")
    said = {k: v if isinstance(v, str) else place_text(v) for k, v in cause.said.items()}
    template = template if cause.source is not None else NO_LINE.sub("", template)
    if "meaning" in said:
        said["meaning"] = said["meaning"].partition(words.SEMICOLON.strip())[0].strip().rstrip(".。")
    if "{record}" in template:
        said["record"] = words.RECORD_IN_CELL if has_record() else words.RECORD_IN_CODE
    return template.format(**{"name": name, "line": place_text(cause.source), **said})
