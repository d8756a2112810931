"""The small namespaces of PyTorch: namespaces of ops, and namespaces of missing devices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from . import amp
from .core.base.missing import module_getattr
from .core.base.public import NAMESPACES, names_of


def _module(name: str, what: str, **members: Any) -> ModuleType:
    """A module of this package with `members`. Other names of PyTorch raise an error that suggests an alternative."""
    module = ModuleType(f"{__package__}.{name}", what)
    module.__dict__.update(members, __getattr__=module_getattr(f"torch.{name}", module.__dict__))
    sys.modules[module.__name__] = module  # for `import autograd_viz.linalg`
    return module


def _of_ops(name: str, what: str) -> ModuleType:
    """The module of the ops that are public in this namespace."""
    names = names_of(name)
    return _module(name, what, **NAMESPACES[name], __all__=names, __dir__=lambda: names)


def _no(*_: object, **__: object) -> bool:
    """False."""
    return False


def _none(*_: object, **__: object) -> int:
    """0."""
    return 0


def _nothing(*_: object, **__: object) -> None:
    """None: there is no device."""


def _absent(**settings: Any) -> SimpleNamespace:
    """A missing backend, and its settings."""
    return SimpleNamespace(is_available=_no, is_built=_no, **settings)


class Packet:
    """An op with its only overload: ``torch.ops.aten.x(...)`` and ``torch.ops.aten.x.default(...)``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.default = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the op."""
        return self.default(*args, **kwargs)


fft = _of_ops("fft", "Discrete Fourier transforms, by the names of torch.fft.")
linalg = _of_ops("linalg", "Decompositions, solvers and norms of matrices, by the names of torch.linalg.")
masked = _of_ops("masked", "Reductions that skip what a mask leaves out, by the names of torch.masked.")
special = _of_ops("special", "Special functions, by the names of torch.special.")
ops = _module(
    "ops",
    "The ops that PyTorch has under torch.ops.aten only.",
    aten=SimpleNamespace(**{name: Packet(function) for name, function in NAMESPACES["ops.aten"].items()}),
)
accelerator = _module(
    "accelerator",
    "There is no accelerator: enough of torch.accelerator for a program to find that out.",
    is_available=_no,
    current_accelerator=_nothing,
    device_count=_none,
)
cuda = _module(
    "cuda",
    "There is no GPU here: enough of torch.cuda for a program to find that out.",
    amp=amp,
    is_available=_no,
    is_bf16_supported=_no,
    device_count=_none,
    manual_seed=_nothing,
    manual_seed_all=_nothing,
    synchronize=_nothing,
    empty_cache=_nothing,
)
backends = _module(
    "backends",
    "What computes: NumPy. Enough of torch.backends for a program to find that out, and to set what has no effect.",
    cudnn=_absent(enabled=True, benchmark=False, deterministic=False, allow_tf32=True, version=_nothing),
    cuda=_absent(matmul=SimpleNamespace(allow_tf32=False)),
    mps=_absent(),
    mkl=_absent(),
    mkldnn=_absent(enabled=False),
    openmp=_absent(),
)
