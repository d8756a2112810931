"""Where the nan or inf of a pass was born: after the model, in its forward pass, or in its backward pass."""

from __future__ import annotations

from typing import Any

from .. import words
from ..answers.causes.text import place_text, sentence
from ..sources.raised import users_names
from ..sources.shared.run.results import Again
from ..stepper.stepper import Stepper
from .explain import explained
from .show import step

BIRTHS = ("born_", "forward_", "nan_of_", "given", "zero_times_")  # kinds of causes that tell one
LATER = ("bad_hook", "bad_since", "bad_written")  # it was made beside the graph


def birth_of(again: Again, path: str, live: Any) -> str:
    """One sentence on a pass that has run again. A parameter, in the program `live`, has nan or inf in its gradient."""
    bad = next(((result, gradient) for result, gradient in again.reached if not bool(result.isfinite().all())), None)
    if bad is not None:
        return _in_forward(again, path, *bad)
    odd = next((gradient for _, gradient in again.reached if not bool(gradient.isfinite().all())), None)
    if odd is not None:
        return _after_model("nan" if bool(odd.isnan().any()) else "inf", path, live)
    return _in_backward(step(again.root, again.gradient, params=again.leaves).stepper) or _beside(path, live)


def _after_model(what: str, path: str, live: Any) -> str:
    """The code after the model does not run again. What has recorded the program may know its line."""
    found = explained(live, None, users_names())
    if found.causes[0].kind.startswith(BIRTHS):
        return words.RUN_AFTER_MODEL_AT.format(cause=sentence(found.causes[0], path))
    advice = "" if found.is_recorded else words.RUN_WATCH_ALL
    return words.RUN_AFTER_MODEL.format(what=what) + advice


def _in_forward(again: Again, path: str, result: Any, gradient: Any) -> str:
    """The model made it, or was given it."""
    result.backward(gradient, retain_graph=True)
    leaf = next(p for p in (again.leaves[path], *again.leaves.values()) if p.grad is not None)
    inputs = {f"input {k}": t for k, t in enumerate(again.inputs)}
    found = explained(leaf, result, {**again.leaves, **inputs}, is_recorded=False)
    cause = found.causes[0]
    if cause.kind == "given" and cause.said["tensor"] in inputs:
        return words.RUN_BAD_INPUT.format(what=cause.said["what"])
    if cause.kind == "given" and cause.source is None:
        return words.RUN_BAD_CONSTANT.format(what=cause.said["what"])
    return sentence(cause, path) if cause.kind.startswith(BIRTHS) else words.RUN_IN_FORWARD


def _beside(path: str, live: Any) -> str:
    """The pass ran again, and all was finite."""
    found = explained(live, None, users_names())
    return sentence(found.causes[0], path) if found.causes[0].kind.startswith(LATER) else words.RUN_NOT_AGAIN


def _in_backward(stepper: Stepper) -> str:
    """The step of a backward pass that made the first nan or inf of finite numbers; "" if none has."""
    stepper.stop_on(nan=True)
    stepper.run()
    step = stepper.current
    if stepper.stopped is None or step is None:
        return ""
    node = next(n for n in stepper.document.nodes if n.id == step.node)
    op = next((o for o in stepper.document.ops if o.id == node.op), None)
    line = f" ({place_text(op.source)})" if op is not None and op.source is not None else ""
    return words.RUN_BACKWARD.format(sentence=step.sentence, module=op.module if op is not None else "", line=line)
