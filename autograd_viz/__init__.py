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
from .core.ops.activation import relu, sigmoid, tanh
from .core.ops.arithmetic import (
    abs,  # noqa: A004 -- PyTorch's name
    add,
    cos,
    div,
    exp,
    log,
    mul,
    neg,
    pow,  # noqa: A004 -- PyTorch's name
    reciprocal,
    sign,
    sin,
    sqrt,
    square,
    sub,
    where,
)
from .core.ops.comparison import eq, ge, gt, le, lt, ne
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
    "abs",
    "add",
    "arange",
    "autograd",
    "bool",
    "clone",
    "cos",
    "detach",
    "div",
    "cuda",
    "dot",
    "double",
    "dtype",
    "enable_grad",
    "eq",
    "exp",
    "fft",
    "float",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "full",
    "ge",
    "ger",
    "get_default_dtype",
    "gt",
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
    "le",
    "linalg",
    "load",
    "log",
    "long",
    "lt",
    "manual_seed",
    "masked",
    "matmul",
    "mean",
    "mm",
    "mul",
    "mv",
    "ne",
    "neg",
    "nn",
    "no_grad",
    "ones",
    "ones_like",
    "optim",
    "permute",
    "pow",
    "rand",
    "randn",
    "reciprocal",
    "relu",
    "reshape",
    "save",
    "set_default_dtype",
    "set_grad_enabled",
    "short",
    "show",
    "sigmoid",
    "sign",
    "sin",
    "special",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "step",
    "sub",
    "sum",
    "t",
    "tanh",
    "tensor",
    "transpose",
    "uint8",
    "unbind",
    "unsqueeze",
    "where",
    "zeros",
    "zeros_like",
    *_public.NAMESPACES["torch"],
]  # fmt: skip
