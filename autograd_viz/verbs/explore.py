"""The verb that moves leaves: explore."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..runtime.collector import collector_waits
from .explorer import Explorer

if TYPE_CHECKING:
    from ..widget.explore_widget import ExploreWidget


def explore(f: Callable[..., Any], /, **leaves: Any) -> ExploreWidget | Explorer:
    """Move the leaves of a function by sliders: at each change it runs, and its figure gets the new numbers.

    The figure shows the graph after ``f(...).backward()``. Beside it stand the output's change for a small change of one leaf,
    and grad × change; and a curve of the output along that leaf, with its tangent. Use ``av.explore(f, x=2.0, w=-3.0)``.

    Args:
        f: a function of tensors that returns one number, as a tensor of autograd_viz or of PyTorch. It runs at each change, so
            it should change nothing elsewhere. Random numbers are the same in each run.
        leaves: its arguments by name. A number, a list of numbers or a tensor of floats with at most 64 elements gets a slider,
            which moves one element at a time. All else is passed as it is.

    Returns:
        a widget; ``set(x=1.0)`` moves a leaf from code. `save` writes its figure, and as .html a page of recorded runs.

    Raises:
        TypeError: no leaf has a slider, or `f` cannot be called or returns no tensor.
        Exception: what `f` raises at the first values.

    >>> shown = av.explore(lambda x, w: (w * x - 1.0) ** 2, x=2.0, w=0.5)
    >>> print(shown.set(w=1.0))
    The output is 1.0, and w.grad is 4.0. ...
    """
    if not callable(f):
        raise TypeError(f"explore(f, x=2.0) takes a function, got {type(f).__name__}")
    with collector_waits():
        explorer = Explorer(f, leaves)
        try:
            from ..widget.explore_widget import ExploreWidget
        except ModuleNotFoundError as error:  # a browser's Python
            if error.name not in ("traitlets", "ipywidgets", "anywidget"):
                raise
            return explorer
        return ExploreWidget(explorer)
