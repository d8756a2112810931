"""The widget: a Stepper, and a front end that replays what is recorded and asks for what is not."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

import anywidget
import traitlets

from ..export.cell import cell_bundle
from ..graph.trace import State, Step
from ..layout import layout
from ..render import THEMES, render_svg, theme_named
from ..stepper import Stepper
from .frames import FrameMaker

# anywidget loads one module; ours are joined in this order, each after those it imports
MODULES = ("draw.js", "picture.js", "theme.js", "controls.js", "keys.js", "index.js")


def _static(name: str) -> str:
    return (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")


def joined_modules() -> str:
    """The front end as one ES module: imports between our files dropped, only the last file's exports kept."""
    parts = []
    for name in MODULES:
        text = re.sub(r'^import [^;]*? from "\./[^"]+";\n', "", _static(name), flags=re.MULTILINE)
        parts.append(text if name == MODULES[-1] else re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


class StepperWidget(anywidget.AnyWidget):
    """Steps a backward pass in a notebook, and from code: `next`, `back`, `finish`, `reset`, `goto`.

    Attributes:
        step: how many steps are done; may be set, and linked to other widgets.
        stepper: the cursor behind it (`stepper.trace`, `stepper.document`).
        error: what the last move raised, or "".
    """

    _esm = joined_modules()
    _css = _static("stepper.css")
    picture = traitlets.Dict().tag(sync=True)
    frames: Any = traitlets.List().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    complete = traitlets.Bool(False).tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)

    def __init__(self, stepper: Stepper, total: int, theme: str = "auto") -> None:
        self.stepper, self._theme = stepper, theme_named("light" if theme == "auto" else theme)
        self._geometry = layout(stepper.document)
        self._maker = FrameMaker(stepper.document, self._theme)
        palettes = ("light", "dark") if theme == "auto" else (theme,)
        picture = {
            "svg": render_svg(stepper.document, self._geometry, State(), self._theme),
            "palettes": {name: THEMES[name].colours() for name in palettes},
            "start": stepper.sentence_at(0),
            "total": total,
        }
        super().__init__(picture=picture, complete=stepper.trace.complete)
        stepper.on_move(self._moved)
        self.observe(self._cursor_set, names="step")
        self.on_msg(self._asked)

    # -- from code ----------------------------------------------------------------------------------------------------

    def next(self) -> Step | None:
        """One step forward: calls the next node for real. Returns the step, or None at the end.

        Raises:
            Exception: whatever the node raises; the stepper stays where it was.
        """
        step: Step | None = self._try(self.stepper.next)
        return step

    def back(self) -> None:
        """One step back; `grad` and saved tensors are as they were."""
        self._try(self.stepper.back)

    def finish(self) -> None:
        """To the end."""
        self._try(self.stepper.finish)

    def reset(self) -> None:
        """Back to the start."""
        self._try(self.stepper.reset)

    def goto(self, step: int) -> None:
        """To any step."""
        self._try(self.stepper.goto, step)

    @property
    def sentence(self) -> str:
        """What happened last, in words."""
        return self.stepper.sentence

    def _try(self, move: Any, *args: Any) -> Any:
        self.error = ""
        try:
            return move(*args)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            raise

    # -- from the page ------------------------------------------------------------------------------------------------

    def _asked(self, widget: Any, content: Any, buffers: Any) -> None:
        """The page wants a step that is not recorded yet."""
        if isinstance(content, dict) and content.get("kind") == "goto" and isinstance(content.get("step"), int):
            self._quietly(content["step"])
            self.send({"kind": "done"})

    def _cursor_set(self, change: Any) -> None:
        if change.new != self.stepper.step:
            self._quietly(change.new)
            self.step = self.stepper.step

    def _quietly(self, step: int) -> None:
        """Go there; an error is shown under the picture instead of being raised into the void."""
        try:
            self.goto(max(0, step))
        except Exception:
            return

    def _moved(self) -> None:
        """After every move of the stepper: send what is new."""
        for i in range(len(self.frames), len(self.stepper.trace.steps)):
            frame = self._maker.frame(self.stepper.trace.steps[i], self.stepper.sentence_at(i + 1))
            self.frames.append(frame)  # in place: one frame travels, not the list
            self.send({"kind": "frame", "index": i, "frame": frame})
        self.complete = self.stepper.trace.complete
        self.step = self.stepper.step

    # -- without a front end ------------------------------------------------------------------------------------------

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        self.send_state("frames")  # steps taken before there was a page to keep them
        live = super()._repr_mimebundle_(**kwargs)
        data, metadata = live if live is not None else ({}, {})
        svg = render_svg(self.stepper.document, self._geometry, self.stepper.state, self._theme)
        return {**data, **cell_bundle(svg, repr(self.stepper))}, metadata
