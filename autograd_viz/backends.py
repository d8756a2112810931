"""What computes: NumPy. Enough of torch.backends for a program to find that out, and to set what has no effect."""

from types import SimpleNamespace as _Namespace
from typing import Any as _Any

from .core.base.missing import module_getattr as _module_getattr


def _absent(**settings: _Any) -> _Namespace:
    """A backend that is not there, and its settings."""
    return _Namespace(is_available=lambda: False, is_built=lambda: False, **settings)


cudnn = _absent(enabled=True, benchmark=False, deterministic=False, allow_tf32=True, version=lambda: None)
cuda = _absent(matmul=_Namespace(allow_tf32=False))
mps = _absent()
mkl = _absent()
mkldnn = _absent(enabled=False)
openmp = _absent()

__getattr__ = _module_getattr("torch.backends", globals())
