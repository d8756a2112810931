"""Runs a program of the playground in a page's own Python, and gives what the page shows."""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import json
import linecache
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import autograd_viz as av

from .. import words
from ..graph import Document, Trace
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render.drawing import AUTO, Drawing
from ..sources.asking import ran_before
from ..sources.programs import LastRun, last_run
from ..stepper.recorded import Recording
from ..stepper.sentences import with_advice
from ..stepper.stepper import Stepper
from ..verbs.formats import Wishes, html_text
from ..verbs.picture import Figure, first_drawing
from ..verbs.save import subject_of
from ..verbs.show import stepper_of
from ..widget.html import html_page
from .page_error import FILE, told
from .program import SECOND, UsageError, root_of

LATER = {"scipy": "scipy", "PIL": "pillow"}  # what the page fetches when a program wants it
MOST_LETTERS = 100_000  # that a program may print
MOST_SHOWN = 12  # pictures that a program may show


class Needed(BaseException):
    """The program wants packages that the page can fetch. Then it runs again."""


class Later:
    """Notices that a library is wanted which the page has not fetched."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise `Needed` for such a library."""
        if name in LATER and importlib.machinery.PathFinder.find_spec(name) is None:
            raise Needed(LATER[name])


class Printed:
    """What the program prints, up to a number of letters."""

    encoding = "utf-8"

    def __init__(self, tell: Callable[[str], Any]) -> None:
        self._tell, self._left = tell, MOST_LETTERS

    def write(self, text: str) -> int:
        """Pass it on, until it is too much."""
        if self._left > 0:
            self._tell(text[: self._left])
            self._left -= len(text)
            if self._left <= 0:
                self._tell("\n" + words.site()["cut"].format(most=f"{MOST_LETTERS:,}") + "\n")
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    def isatty(self) -> bool:
        """It is no terminal."""
        return False


class Input:
    """What the program would read: a page has nobody who types. Every way to read it raises EOFError."""

    encoding = "utf-8"

    def readline(self, size: int = -1) -> str:
        """Say so."""
        raise EOFError(words.site()["no_input"])

    read = readlines = readline

    def __iter__(self) -> Iterator[str]:
        self.readline()
        yield ""


class Shown:
    """What the program shows: its pictures and steppers, in order."""

    def __init__(self) -> None:
        self.things: list[Any] = []

    def hook(self, value: Any) -> None:
        """What Python does with the value of a line: a picture is shown, an answer is printed."""
        if isinstance(value, Stepper) or hasattr(value, "svg"):
            if all(value is not thing for thing in self.things):
                self.things.append(value)
        elif type(value).__module__.startswith(f"{av.__name__}.verbs."):
            print(value)

    def step(self, tensor: Any, gradient: Any = None, **options: Any) -> Stepper:
        """What `av.step` gives here: a stepper that code can move. The page shows it where the program leaves it."""
        stepper = stepper_of(tensor, gradient, **options)
        self.hook(stepper)
        return stepper

    def pages(self, step: int | None) -> list[dict[str, Any]]:
        """Each as a page; the first stepper opens at a step."""
        first = next((thing for thing in self.things if isinstance(thing, Stepper)), None)
        return [_shown(thing, step if thing is first else None) for thing in self.things[:MOST_SHOWN]]


def _shown(thing: Any, step: int | None) -> dict[str, Any]:
    if isinstance(thing, Stepper):
        return {"kind": "stepper", "page": _page_at({}, thing, step)}
    if getattr(thing, "kind", "") == "explorer":
        return {"kind": "explorer", "page": _explorer(thing).to_html(is_live=True)}
    if isinstance(thing, Figure):
        return {"kind": "picture", "page": _still(thing.drawing.document, thing.drawing)}
    if isinstance(getattr(thing, "svg", None), str) and not hasattr(thing, "svg_in"):
        return {"kind": "svg", "page": thing.svg}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.html"
        av.save(thing, path)
        return {"kind": "picture", "page": path.read_text(encoding="utf-8")}


def _still(document: Document, drawing: Drawing | MapDrawing) -> str:
    """The page of a picture without steps."""
    return html_page(Recording(document, Trace()).stepper(), "auto", 0, drawing)


def _explorer(thing: Any) -> Any:
    """What answers sliders; where widgets live, one holds it."""
    return getattr(thing, "explorer", thing)


shown_last: list[Any] = []  # by the last program, in order


def ask(at: int, question: str) -> str:
    """Answer the sliders of the thing at this place: as JSON what their page shows then, and its data."""
    explorer = _explorer(shown_last[at])
    return json.dumps({"recorded": explorer.answer(json.loads(question)), "data": explorer.data()}, allow_nan=False)


def _page_at(variables: dict[str, Any], x: Any, step: int | None, gradient: Any = None) -> str:
    """The page that steps, at a step; at its start if the pass has no such step."""
    subject = subject_of(x, variables, gradient=gradient)
    try:
        return html_text(subject, Wishes(step))
    except ValueError:
        return html_text(subject, Wishes())


def start() -> None:
    """What the page does once: from here on ``import torch`` means the twin."""
    sys.meta_path.insert(0, Later())
    av.as_torch()
    importlib.import_module("torch.nn.functional")
    importlib.import_module("torch.optim")


def run(source: str, tell: Callable[[str], Any], step: int | None = None, language: str = "en") -> str:
    """Run a program's text, and tell what it prints. `step`: where its stepper opens; None is the start.

    It gives as JSON: `shown`, the kind and page of each picture; `error`, or None; `needs`, packages that the page must fetch
    before it runs the program again; `said`, a sentence if there is nothing to show.
    """
    av.set_language(language)
    result: dict[str, Any] = {"shown": [], "error": None, "needs": [], "said": ""}
    shown = Shown()
    main = ModuleType("__main__")
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    try:
        with _as_in_a_page(main, shown, Printed(tell)), last_run(False) as last:
            _run(source, main, shown, last, step, result)
    except Needed as needed:
        result = {"shown": [], "error": None, "needs": [*needed.args], "said": ""}
    return json.dumps(result, allow_nan=False)


def _run(source: str, main: ModuleType, shown: Shown, last: LastRun, step: int | None, result: dict[str, Any]) -> None:
    try:
        tree = ast.parse(source, FILE)
    except SyntaxError as error:
        result["error"] = told(error.with_traceback(None))
        return
    try:
        exec(compile(ast.Interactive(tree.body), FILE, "single", dont_inherit=True), vars(main))
    except Needed:
        raise
    except SystemExit:
        pass
    except BaseException as error:
        result["error"] = told(error)
        if ran_before(error.__traceback__) is not None:
            shown.hook(av.show(error))
    result["shown"] = shown.pages(step) or ([] if result["error"] is None else _forward(vars(main)))
    shown_last[:] = shown.things
    if not shown.things and result["error"] is None:
        _show_last(main, last, step, result)


def _show_last(main: ModuleType, last: LastRun, step: int | None, result: dict[str, Any]) -> None:
    """Show the program's last backward pass, as it was before it ran; else the pass of its `loss`, or of its last tensor."""
    try:
        root = last.root if last.root is not None else root_of(vars(main), None, Path(FILE))
    except UsageError:
        result["shown"] = _forward(vars(main))
        asks = any(isinstance(x, av.Tensor) and x.requires_grad for x in vars(main).values())
        result["said"] = words.site()["no_grad" if result["shown"] and not asks else "nothing"]
        return
    try:
        with last.as_it_was() if last.root is not None else contextlib.nullcontext(), with_advice(root):
            page = _page_at(vars(main), root, step, last.gradient)
        result["shown"] = [{"kind": "stepper", "page": page}]
    except RuntimeError as error:
        result["said"] = words.site()["freed"] if SECOND in str(error) else f"{type(error).__name__}: {error}"
        document = subject_of(root, vars(main)).document
        result["shown"] = [{"kind": "picture", "page": _still(document, first_drawing(document, None, AUTO, False))}]


def _forward(variables: dict[str, Any]) -> list[dict[str, Any]]:
    """The page that steps the ops of the last tensor that has some and requires no grad; none if there is none."""
    for x in reversed(variables.values()):
        if isinstance(x, av.Tensor) and not x.requires_grad and (subject := subject_of(x, variables)).document.ops:
            return [{"kind": "stepper", "page": html_text(subject, Wishes())}]
    return []


@contextlib.contextmanager
def _as_in_a_page(main: ModuleType, shown: Shown, out: Any) -> Iterator[None]:
    """Inside, `main` is the program, what it prints and shows is kept, and the modes of the last program are forgotten."""
    import torch

    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.autograd.set_detect_anomaly(False)
    torch.manual_seed(0)
    before = sys.stdin, sys.stdout, sys.stderr, sys.displayhook, sys.modules["__main__"]
    vars(main).update(__name__="__main__", __file__=FILE)
    sys.stdin, sys.stdout, sys.stderr = Input(), out, out
    sys.displayhook, sys.modules["__main__"], sys.argv = shown.hook, main, [FILE]
    step, av.step = av.step, shown.step  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            yield
    finally:
        av.step = step
        sys.stdin, sys.stdout, sys.stderr, sys.displayhook, sys.modules["__main__"] = before
