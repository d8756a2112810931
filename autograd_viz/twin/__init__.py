"""PyTorch in NumPy: its tensors, autograd, modules and optimizers, by its names (``import autograd_viz.twin as torch``).

Nothing here draws. The rooms that do read these tensors from above. Each part is loaded when it is first named.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..runtime.forwarding import Made

if TYPE_CHECKING:
    from . import amp as amp
    from . import autograd as autograd
    from . import distributions as distributions
    from . import nn as nn
    from . import optim as optim
    from . import testing as testing
    from . import utils as utils
    from .amp import autocast as autocast
    from .autograd.func import vmap as vmap
    from .names import *  # noqa: F403
    from .namespaces import *  # noqa: F403
    from .other_paths import func as func

_FOLDERS = {"amp", "autograd", "core", "distributions", "nn", "optim", "testing", "utils"}
_MADE = {
    *("accelerator", "backends", "cuda", "fft", "func", "functional", "linalg", "multiprocessing", "random"),
    *("special", "version"),
}
_INSIDE = {"autocast": "amp", "vmap": "autograd.func"}
_OTHERS = dict.fromkeys(("distributions", "func", "nn", "optim"), "other_paths")
sys.meta_path.append(Made(__name__, {"": "namespaces", **_OTHERS}))


def __getattr__(name: str) -> Any:
    """A part of PyTorch; it is loaded when it is first named."""
    if name in _FOLDERS or name in _MADE:
        value = import_module(f".{name}", __name__)
    elif name in _INSIDE:
        value = getattr(import_module(f".{_INSIDE[name]}", __name__), name)
    elif name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        value = getattr(import_module(".names", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
