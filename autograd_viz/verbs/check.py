"""The verb check: every check over a whole run, told as a linter tells."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .. import words
from ..answers.causes.answer import advice_of, formed, of_root
from ..answers.causes.cause import Cause
from ..answers.causes.check import ASKED, SO, Check
from ..answers.causes.code import linter_text
from ..answers.checks.ask import BY_CODE, page_of
from ..errors import NotFiniteError, UnknownChoiceError
from ..graph.surroundings import Source
from ..runtime.uncopied import Uncopied
from ..sources.asking import place_of_error
from ..sources.shared.names import visible_names
from .explain import asked_about, bad_roots, explain_asked, is_recorded, of_error
from .explanation import Explanation

SILENCED = re.compile(r"#\s*av:\s*ignore\[([\w\s,-]+)\]")
NAMED = 3  # tensors that a line names
# what a check sees is often made by what others see: these come first
BEHIND = {"AV301": ("AV409",), "AV302": ("AV305", "AV306"), "AV102": ("AV311",), "AV402": ("AV107",)}


@dataclass(frozen=True)
class Finding:
    """What a check has found."""

    code: str  # of the check: "AV203"
    name: str  # "broadcast-in-loss"
    is_so: bool  # it is a fault; else it may be one
    text: str  # the cause, as a sentence
    advice: str  # what to do
    file: str = ""  # where, if that is known
    line: int = 0
    place: str = ""  # the same as it is told
    tensors: tuple[str, ...] = ()  # names of the tensors that it concerns

    def __str__(self) -> str:
        at = f"{self.place}: " if self.place else ""
        more = "…" if len(self.tensors) > NAMED else ""
        about = f" [{words.COMMA.join(self.tensors[:NAMED])}{more}]" if self.tensors else ""
        sure = "" if self.is_so else words.CHECK_MAY
        return f"{at}{self.code} {sure}{self.text}{about}" + (f" {words.DO.format(advice=self.advice)}" if self.advice else "")


class Findings(Uncopied):
    """What `check` has found, the surest first. Its text has a line for each; a notebook cell that ends in one shows it."""

    kind = "findings"

    def __init__(self, found: Iterable[Finding], is_recorded: bool = True) -> None:
        self._is_recorded = is_recorded
        in_order = sorted(found, key=lambda f: (not f.is_so, f.code, f.file, f.line))
        at = {f.code: k for k, f in reversed([*enumerate(in_order)])}
        behind = {f: [at[c] for c in BEHIND.get(f.code, ()) if c in at] for f in in_order}
        places = {f: (min(behind[f], default=k), f.code in BEHIND, k) for k, f in enumerate(in_order)}
        self.found = tuple(sorted(in_order, key=places.__getitem__))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        unseen = [] if self._is_recorded else [words.CHECK_UNSEEN]
        return "\n".join([*map(str, self.found)] or [words.CHECK_NOTHING, *unseen])

    __repr__ = __str__

    @property
    def is_so(self) -> bool:
        """Is one of them surely a fault?"""
        return any(f.is_so for f in self.found)

    def to_json(self) -> str:
        """The findings as JSON, for editors and programs."""
        return json.dumps([vars(f) for f in self.found], ensure_ascii=False, indent=1)


def check(what: Any = None, *, select: Collection[str] = (), ignore: Collection[str] = ()) -> Findings:
    """Check a training run for faults of the usual kinds, and say what is so and what may be.

    A comment `# av: ignore[AV203]` silences a check at its line. In PyTorch programs, call `av.watch()` before the run.

    Args:
        what: a module, a loss, or an error. Default: what the last pass went through, and the modules of the caller.
        select: numbers or names of checks: no others. "AV2" stands for all that begin so.
        ignore: those to leave out.

    Returns:
        `Findings`: each with its number, place, sentence and advice.

    Raises:
        NotDrawableError: `what` is none of these.
        UnknownChoiceError: no check has such a number or name.

    Example:
        >>> model = av.nn.Linear(4, 3)
        >>> loss = av.nn.functional.cross_entropy(model(av.ones(2, 4)).softmax(1), av.tensor([0, 2]))
        >>> loss.backward()
        >>> print(av.check(model))
        line 1: AV201 log_softmax, as in cross_entropy, takes logits, and got the result of softmax. → Leave softmax out.
    """
    wanted, frame = _wanted(select, ignore), sys._getframe(1)
    if isinstance(what, BaseException) and not isinstance(what, NotFiniteError):
        answer = of_error(what, frame)
        name = answer.about or words.THE_LOSS.lower()
        return Findings(_merged([(c, name) for c in answer.causes], wanted, BY_CODE["AV901"]))
    names = visible_names(frame)
    if isinstance(what, NotFiniteError):  # a run has stopped: the gradients are there
        what, names = None, {**names, **visible_names(place_of_error(what.__traceback__, frame).frame)}
    return checked(what, names, wanted)


def _wanted(select: Collection[str], ignore: Collection[str]) -> set[str]:
    """The numbers of the checks."""
    for given in (*select, *ignore):
        if not any(_means(given, code) for code in BY_CODE):
            raise UnknownChoiceError("check", given, [f"{c.code} {c.name}" for c in BY_CODE.values()])
    chosen = {c for c in BY_CODE if not select or any(_means(given, c) for given in select)}
    return {c for c in chosen if not any(_means(given, c) for given in ignore)}


def _means(given: str, code: str) -> bool:
    return code.startswith(given.upper()) or BY_CODE[code].name == given


def checked(what: Any, names: dict[str, Any], wanted: Collection[str] = tuple(BY_CODE)) -> Findings:
    """What the checks of these numbers say of a module, of a loss, or of all that the last pass went through."""
    asked = asked_about(what, names)
    found = [(c, name) for _, name, causes in asked for c in causes]
    if what is None:
        found += [(c, q.name_of(q.tensor) or words.THE_LOSS) for q, births in bad_roots(names) for c in births]
    return Findings(_merged(found, wanted), not asked or is_recorded(asked))


def explained(names: dict[str, Any]) -> tuple[Explanation, Findings]:
    """The answer about the last pass of a program that has run, and what the checks found besides it."""
    asked = asked_about(None, names)
    answer = explain_asked(asked, names)
    told = {(c.kind, c.source) for c in answer.causes}
    others = [(c, name) for _, name, causes in asked for c in causes if (c.kind, c.source) not in told]
    return answer, Findings(_merged(others, tuple(BY_CODE)))


def _merged(causes: Iterable[tuple[Cause, str]], wanted: Collection[str], raised: Check | None = None) -> Iterator[Finding]:
    """One finding for each cause and line, with the names of all its tensors. Causes of an error are findings of `raised`."""
    about: dict[tuple[str, Source | None], list[tuple[Cause, str]]] = {}
    for cause, name in causes:
        about.setdefault((cause.kind, cause.source), []).append((cause, name))
    for (kind, source), same in about.items():
        page, sure = (raised, SO) if raised is not None else page_of(kind) or (None, ASKED)
        if page is None or sure == ASKED or page.code not in wanted or _is_silenced(source, page.code):
            continue
        cause, name = same[0]
        at = ("", 0) if source is None else (source.file, source.line)
        named = dict.fromkeys(n for _, n in same if n not in ("", words.THE_TENSOR))
        tensors = () if page.of_run or raised is not None else tuple(named)
        text = (partial(formed, "CAUSE") if raised is None else of_root)(replace(cause, source=None), name)
        yield Finding(page.code, page.name, sure == SO, text, advice_of(cause, name), *at, linter_text(source), tensors)


def _is_silenced(source: Source | None, code: str) -> bool:
    named = SILENCED.search("" if source is None else source.text)
    return named is not None and any(_means(part.strip(), code) for part in named.group(1).split(","))
