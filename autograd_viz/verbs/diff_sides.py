"""The two sides of `diff`: live graphs with all elements, or documents with what they tell."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ..errors import NotDrawableError
from ..graph import Document, Trace, Value
from ..graph.text import few_names
from ..pictures.differences.gap import Elements
from ..sources import anything
from ..sources.anything import each_gradient, elements_of
from ..sources.asking import unseen
from ..sources.shared.names import modules_among
from ..sources.shared.stepping.norms import Place
from ..sources.shared.values import value_of
from ..stepper.recorded import Recording
from ..stepper.sentences import with_advice
from ..stepper.stepper import Stepper
from .formats import FINAL, at_step
from .save import load
from .show import graph_of, record

Take = Callable[[Place, Elements], None]


class Live:
    """A tensor whose graph is there. Its elements are read when they are compared."""

    def __init__(self, root: Any, names: Mapping[str, Any], params: Any) -> None:
        self._root, self._graph = root, graph_of(root, names, params, is_outline=True)
        self.document: Document = self._graph.document  # its graph; elements are not written out
        leaves = [t for t in self.document.tensors if t.is_leaf and t.id in self._graph.tensors]
        with unseen(root):
            self.can_pass = bool(root.requires_grad) and not self.document.is_freed  # a backward pass can run
        self._versions = {t.id: (t.name or t.id, self._version(t.id)) for t in leaves}

    def _version(self, id: str) -> int:
        tensor = self._graph.tensors[id]
        with unseen(tensor):
            return 0 if tensor.is_inference() else int(tensor._version)

    def check(self) -> None:
        """Refuse leaves that the other function has changed."""
        changed = [name for id, (name, version) in self._versions.items() if self._version(id) != version]
        if changed:
            raise RuntimeError(
                f"diff(f, g): g has changed {few_names(changed)} in place, which f had used. Give each function a model of its "
                "own: copy.deepcopy(model)."
            )

    def elements(self, id: str) -> Elements | None:
        """Of a tensor; None if they are not known."""
        return elements_of(self._graph, id)

    def each_gradient(self, wanted: Collection[Place], take: Take) -> None:
        """Run the pass and take it back."""
        with with_advice(self._root):
            each_gradient(self._graph, self._root, None, wanted, take)


class Written:
    """A stepper, or a document that was saved with its pass."""

    def __init__(self, stepper: Stepper) -> None:
        self.document: Document = stepper.document
        self._stepper, self._values = stepper, {t.id: t.value for t in stepper.document.tensors}
        self.can_pass = True

    def check(self) -> None:
        """Its values are written: nobody changes them."""

    def elements(self, id: str) -> Elements | None:
        """What the document tells of them; None if that is nothing."""
        value = self._values[id]
        return value if value.summary is not None or value.numbers else None

    def each_gradient(self, wanted: Collection[Place], take: Take) -> None:
        """Read the steps; those of a live stepper run and are taken back."""
        with at_step(self._stepper, FINAL):
            trace: Trace = self._stepper.trace
            for step in trace.steps:
                for k, gradient in enumerate(step.grad_outputs):
                    if gradient is not None and (step.node, "in", k) in wanted:
                        take((step.node, "in", k), gradient)


Side = Live | Written


def alike(a: Elements, b: Elements, dtypes: tuple[str, str]) -> tuple[Elements, Elements]:
    """Both as arrays, or as a document tells them, if only that is known of one."""
    if isinstance(a, Value) == isinstance(b, Value):
        return a, b
    told = (x if isinstance(x, Value) else value_of(x, dtype) for x, dtype in zip((a, b), dtypes, strict=True))
    return next(told), next(told)


def side_of(x: Any, names: Mapping[str, Any], params: Any) -> Side:
    """What is compared. NotDrawableError: no loss, recording, stepper, file or function of a loss."""
    if isinstance(x, str | Path):
        x = load(x)
    stepper = x.stepper() if isinstance(x, Recording) else getattr(x, "stepper", x)
    if isinstance(stepper, Stepper):
        return Written(stepper)
    if not anything.is_drawable(x):
        raise NotDrawableError.instead_of(
            "diff(a, b) compares two losses, recordings, steppers, saved .json files, or functions that return a loss", x
        )
    return Live(x, names, params)


def result_of(x: Any, names: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """A function's result, recorded with the module that it reaches by name; anything else as it is. And names of variables.

    Two functions start from the same random numbers, which are as before afterwards.
    """
    if anything.is_drawable(x) or hasattr(x, "stepper") or not callable(x):
        return x, names
    own = variables_of(x)
    modules = [m for _, m in modules_among(own) if any(map(anything.is_torch, m.parameters()))]
    with anything.keep_random_numbers(), record(modules[0]) if len(modules) == 1 else nullcontext():
        return x(), {**names, **own}


def variables_of(function: Callable[[], Any]) -> dict[str, Any]:
    """The variables of a function."""
    inner = inspect.unwrap(getattr(function, "func", function))
    if not inspect.isfunction(inner):
        return {"function": function}
    found = inspect.getclosurevars(inner)
    return {**found.globals, **found.nonlocals}
