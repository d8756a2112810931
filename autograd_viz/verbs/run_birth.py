"""Where the nan or inf of a pass was born: after the model, in its forward pass, or in its backward pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import words
from ..stepper.stepper import Stepper
from .explain import explain
from .show import step


def birth_of(root: Any, gradient: Any, leaves: dict[str, Any], path: str) -> str:
    """One sentence.

    Args:
        root: the result of the model, recorded.
        gradient: what reached it.
        leaves: the parameters by path.
        path: of a parameter with a gradient that is not finite.
    """
    is_finite = bool(root.isfinite().all())
    if is_finite and not bool(gradient.isfinite().all()):
        return words.RUN_AFTER_MODEL.format(what="nan" if bool(gradient.isnan().any()) else "inf")
    if is_finite:
        return _in_backward(step(root, gradient, params=leaves).stepper)
    root.backward(gradient, retain_graph=True)
    found = explain(leaves[path])
    cause = found.causes[0]
    if cause.kind == "given" and cause.source is None and cause.said["tensor"] == words.THE_TENSOR:
        return words.RUN_BAD_INPUT.format(what=cause.said["what"])
    return str(found).partition(": ")[2].split("\n")[0]


def _in_backward(stepper: Stepper) -> str:
    """The step of a backward pass that made the first nan or inf of finite numbers."""
    stepper.stop_on(nan=True)
    stepper.run()
    step = stepper.current
    if stepper.stopped is None or step is None:
        return words.RUN_NOT_AGAIN
    node = next(n for n in stepper.document.nodes if n.id == step.node)
    op = next((o for o in stepper.document.ops if o.id == node.op), None)
    line = f" ({Path(op.source.file).name}, {op.source.line})" if op is not None and op.source is not None else ""
    return words.RUN_BACKWARD.format(sentence=step.sentence, module=op.module if op is not None else "", line=line)
