"""See autograd: NumPy tensors with PyTorch's semantics, drawn as Elliot Waite draws them and stepped one grad_fn at a time.

The names of PyTorch are here (``import autograd_viz as torch``), and the verbs:

    show(x)             the figure of everything that led to x
    step(x)             a widget that steps x.backward(), forwards and back
    save(x, "x.svg")    the figure as a file
"""

from . import autograd, cuda, fft, linalg, masked, nn, optim, special
from .core import missing as _missing
from .core import public as _public
from .core.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .core.creation import arange, from_numpy, full, manual_seed, ones, ones_like, rand, randn, tensor, zeros, zeros_like
from .core.dtypes import (
    bool_ as bool,  # noqa: A004 -- PyTorch's name
)
from .core.dtypes import (
    double,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    set_default_dtype,
    short,
    uint8,
)
from .core.dtypes import (
    float_ as float,  # noqa: A004 -- PyTorch's name
)
from .core.dtypes import (
    int_ as int,  # noqa: A004 -- PyTorch's name
)
from .core.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.interchange import from_dlpack
from .core.methods import permute, reshape, squeeze, t, transpose, unbind, unsqueeze
from .core.ops.linalg import dot, ger, matmul, mm, mv
from .core.ops.reduction import (
    mean,
    sum,  # noqa: A004 -- PyTorch's name
)
from .core.ops.shape import clone, detach, stack
from .core.tensor import Size, Tensor
from .errors import AutogradVizError, CannotReadError, CannotWriteError, DocumentError, NotDrawableError, UnknownChoiceError
from .views import load, save, show, step

globals().update(_public.NAMESPACES["torch"])
__getattr__ = _missing.module_getattr("torch", globals())

__all__ = [  # noqa: PLE0604 -- strings all
    "AutogradVizError",
    "CannotReadError",
    "CannotWriteError",
    "DocumentError",
    "NotDrawableError",
    "Size",
    "Tensor",
    "UnknownChoiceError",
    "arange",
    "autograd",
    "bool",
    "clone",
    "detach",
    "cuda",
    "dot",
    "double",
    "dtype",
    "enable_grad",
    "fft",
    "float",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "full",
    "ger",
    "get_default_dtype",
    "half",
    "int",
    "inference_mode",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "linalg",
    "load",
    "long",
    "manual_seed",
    "masked",
    "matmul",
    "mean",
    "mm",
    "mv",
    "nn",
    "no_grad",
    "ones",
    "ones_like",
    "optim",
    "permute",
    "rand",
    "randn",
    "reshape",
    "save",
    "set_default_dtype",
    "set_grad_enabled",
    "short",
    "show",
    "special",
    "squeeze",
    "stack",
    "step",
    "sum",
    "t",
    "tensor",
    "transpose",
    "uint8",
    "unbind",
    "unsqueeze",
    "zeros",
    "zeros_like",
    *_public.NAMESPACES["torch"],
]  # fmt: skip
