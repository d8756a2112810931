"""See autograd: NumPy tensors with PyTorch's semantics, drawn in Elliot Waite's style and stepped one grad_fn at a time.

It has PyTorch's names (those of ``autograd_viz.twin``) and these verbs:

    show(x)             the figure of the graph that led to x
    map(x)              a model at a glance: a card for each module, with gradients
    step(x)             a widget that steps x.backward(), forwards and back
    explore(f, x=2.0)   sliders on the leaves of f: values, gradients and sentence follow
    diff(a, b)          where two passes differ first, and how far it grows
    gather(x)           all ranks of a PyTorch job: each gradient on every rank, and what would hang
    memory(x)           what autograd holds for x; budget="8 GB": which modules to checkpoint
    time(f)             where a PyTorch pass spends its time, by module, op and line
    compare(s, t)       two steppers that move together
    scope("attention")  draws the ops inside as one box
    record(model)       records a PyTorch forward pass: its picture has every value and line
    watch(model)        a training run over time: each step's gradients, stopped at nan
    watch()             records all PyTorch code from now on, for explain
    explain(p)          why p.grad is None, zero, nan, or what it is, with the line of code
    check(model)        all that such a look finds over a whole run, line by line, as a linter does
    save(x, "x.svg")    the figure as a file (.html: a page that steps); a state_dict as .npz
    iframe(x)           that page as an <iframe>
    set_language("zh")  sentences and labels in 简体中文
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import *  # noqa: F403
from .runtime.collector import collector_waits
from .runtime.forwarding import Forward

if TYPE_CHECKING:
    from .twin import *  # noqa: F403
    from .verbs.check import check as check
    from .verbs.diff import diff as diff
    from .verbs.explain import explain as explain
    from .verbs.explorer import explore as explore
    from .verbs.gather import gather as gather
    from .verbs.magics import load_ipython_extension as load_ipython_extension
    from .verbs.magics import unload_ipython_extension as unload_ipython_extension
    from .verbs.map import map as map  # noqa: A004 -- av.map
    from .verbs.memory import memory as memory
    from .verbs.save import iframe as iframe
    from .verbs.save import load as load  # type: ignore[assignment]
    from .verbs.save import save as save  # type: ignore[assignment]
    from .verbs.save import to_graphviz as to_graphviz
    from .verbs.show import compare as compare
    from .verbs.show import record as record
    from .verbs.show import show as show
    from .verbs.show import step as step
    from .verbs.timing import time as time
    from .verbs.watch import watch as watch
    from .words import set_language as set_language

__version__ = "0.1.0"
_HOMES = {  # of what is loaded when it is first named
    "verbs.check": ("check",),
    "verbs.diff": ("diff",),
    "verbs.explain": ("explain",),
    "verbs.explorer": ("explore",),
    "verbs.gather": ("gather",),
    "verbs.magics": ("load_ipython_extension", "unload_ipython_extension"),
    "verbs.map": ("map",),
    "verbs.memory": ("memory",),
    "verbs.save": ("iframe", "load", "save", "to_graphviz"),
    "verbs.timing": ("time",),
    "verbs.show": ("compare", "record", "show", "step"),
    "verbs.watch": ("watch",),
    "words": ("set_language",),
}
_ERRORS = {name for name in globals() if name.endswith("Error")}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = {
    *("answers", "cli", "errors", "graph", "lessons", "pictures", "runtime", "site", "sources", "stepper"),
    *("twin", "verbs", "widget", "words"),
}
sys.meta_path.insert(0, Forward(__name__, f"{__name__}.twin", but={*_ROOMS, "__main__"}))


def __getattr__(name: str) -> Any:
    """A verb, or else PyTorch's name of the twin; it is loaded when it is first named."""
    if name == "__all__":
        return sorted({*_HOME, *_ERRORS, *import_module(".twin", __name__).__all__})
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with collector_waits():  # what is loaded stays
        if name in _ROOMS:  # `from .. import words` asks here before it loads the room
            value = import_module(f".{name}", __name__)
        else:
            value = getattr(import_module(f".{_HOME.get(name, 'twin')}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> Sequence[str]:
    return sorted({*globals(), *__getattr__("__all__")})
