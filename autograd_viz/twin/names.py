"""What PyTorch has at its top: tensors, dtypes, modes and ops. The package loads it at the first of these names."""

# ruff: noqa: F405 -- the package finds its folders itself, and dtypes.py lists its types

from math import e, inf, nan, pi

from .core.backward.instrumentation import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .core.base import missing as _missing
from .core.base import public as _public
from .core.base.device import device
from .core.base.dtypes import *  # noqa: F403
from .core.base.dtypes import bool_ as bool  # noqa: A004 -- PyTorch's name
from .core.base.dtypes import float_ as float  # noqa: A004 -- PyTorch's name
from .core.base.dtypes import int_ as int  # noqa: A004 -- PyTorch's name

from .core.base.grad_mode import enable_grad, inference_mode, is_grad_enabled  # isort: skip
from .core.base.grad_mode import is_inference_mode_enabled, no_grad, set_grad_enabled
from .core.base.scopes import scope
from .core.tensor import questions as _questions
from .core.tensor.as_array import Size
from .core.tensor.interchange import from_dlpack
from .core.tensor.questions import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format, strided
from .core.tensor.random import default_generator
from .core.tensor.storage import load, save
from .core.tensor.tensor import Tensor
from .pytorchs_name import as_torch

layout = _questions.layout
newaxis = None  # in an index
globals().update(_public.NAMESPACES["torch"])  # the files of the ops declare their public names
__getattr__ = _missing.module_getattr("torch", globals())

__all__ = [
    "Size", "Tensor", "accelerator", "amp", "as_torch", "autocast", "autograd", "backends", "bfloat16", "bool", "cdouble",
    "cfloat", "channels_last", "channels_last_3d", "complex64", "complex128", "contiguous_format", "cuda", "default_generator",
    "device", "distributions", "double", "dtype", "e", "enable_grad", "fft", "float", "float16", "float32", "float64",
    "from_dlpack", "func", "functional", "get_default_dtype", "half", "inf", "inference_mode", "int", "int8", "int16", "int32",
    "int64", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference_mode_enabled", "layout",
    "linalg", "load", "long", "memory_format", "multiprocessing", "nan", "newaxis", "nn", "no_grad", "optim",
    "pi", "preserve_format", "random", "save", "scope", "set_default_dtype", "set_grad_enabled", "short", "special", "strided",
    "testing", "uint8", "utils", "version", "vmap",
]  # fmt: skip
__all__.extend(op for op in _public.names_of("torch") if op[0] != "_" and op not in __all__)
