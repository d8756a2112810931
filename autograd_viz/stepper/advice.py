"""What to do about a pass that cannot run. It follows PyTorch's message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ADVICE = {
    "grad can be implicitly created only for scalar outputs": "this tensor {kind}: call av.step(tensor, gradient), or {sum}",
    "grad can be implicitly created only for real scalar outputs": "call av.step(tensor, gradient), or make it real: abs()",
    "element 0 of tensors does not require grad": "av.explain(tensor) says why",
    "Trying to backward through the graph a second time": "compute it again, and step it before backward(); to save a pass "
    "that a stepper has run, save the stepper: s = av.step(tensor); s.finish(); av.save(s, path)",
}


def advise(error: RuntimeError, root: Any = None) -> None:
    """Write the advice behind the message of a pass's error."""
    said = str(error)
    advice = next((advice for begin, advice in ADVICE.items() if said.startswith(begin)), "")
    is_nested = getattr(root, "is_nested", False)
    kind = "is nested" if is_nested else f"has shape {tuple(getattr(root, 'shape', ()))}"
    told = advice.format(kind=kind, sum="to_padded_tensor(0.0).sum() first" if is_nested else "sum() it first")
    if told and not said.endswith(told):
        error.args = (f"{said.removesuffix('.')}; {told}",)


@contextmanager
def advised(root: Any = None) -> Iterator[None]:
    """If the pass of `root` cannot run, the error also says what to do."""
    try:
        yield
    except RuntimeError as error:
        advise(error, root)
        raise
