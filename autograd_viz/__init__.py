"""See autograd: NumPy tensors with PyTorch's semantics, drawn in Elliot Waite's style and stepped one grad_fn at a time.

It has PyTorch's names (``import autograd_viz as torch``) and these verbs:

    show(x)             the figure of the graph that led to x
    map(x)              a model at a glance: a card for each module, with gradients
    step(x)             a widget that steps x.backward(), forwards and back
    diff(a, b)          where two passes differ first, and how far it grows
    gather(x)           all ranks of a PyTorch job: each gradient on every rank, and what would hang
    memory(x)           what autograd holds for x, and a checkpoint would save
    compare(s, t)       two steppers that move together
    scope("attention")  draws the ops inside as one box
    record(model)       records a PyTorch forward pass: its picture has every value and line
    watch(model)        a training run over time: each step's gradients, stopped at nan
    watch()             records all PyTorch code from now on, for explain
    explain(p)          why p.grad is None, zero, nan, or what it is, with the line of code
    save(x, "x.svg")    the figure as a file (.html: a page that steps); a state_dict as .npz
    iframe(x)           that page as an <iframe>
    set_language("zh")  sentences and labels in 简体中文
"""

from math import e, inf, nan, pi

from . import amp, autograd, distributions, nn, optim, testing, utils
from .amp import autocast
from .autograd.vmap import vmap
from .core.backward.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .core.base import missing as _missing
from .core.base import public as _public
from .core.base.device import device
from .core.base.dtypes import (
    bfloat16,
    cdouble,
    cfloat,
    complex64,
    complex128,
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
from .core.base.dtypes import bool_ as bool  # noqa: A004 -- PyTorch's name
from .core.base.dtypes import float_ as float  # noqa: A004 -- PyTorch's name
from .core.base.dtypes import int_ as int  # noqa: A004 -- PyTorch's name
from .core.base.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.base.scopes import scope
from .core.tensor import questions as _questions
from .core.tensor.as_array import Size
from .core.tensor.interchange import from_dlpack
from .core.tensor.questions import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
    strided,
)
from .core.tensor.random import default_generator
from .core.tensor.tensor import Tensor
from .errors import (
    AutogradVizError,
    CannotReadError,
    CannotWriteError,
    DocumentError,
    LayoutError,
    MissingLibraryError,
    NotDrawableError,
    NotFiniteError,
    UnknownChoiceError,
)
from .namespaces import (
    accelerator,
    backends,
    cuda,
    fft,
    func,
    functional,
    linalg,
    masked,
    multiprocessing,
    ops,
    random,
    special,
    version,
)
from .verbs.diff import diff
from .verbs.explain import explain
from .verbs.gather import gather as _gather
from .verbs.magics import load_ipython_extension, unload_ipython_extension
from .verbs.map import map  # noqa: A004 -- av.map
from .verbs.memory import memory
from .verbs.save import iframe, load, save, to_graphviz
from .verbs.show import compare, record, show, step
from .verbs.watch import watch
from .words import set_language

__version__ = "0.1.0"
layout = _questions.layout  # torch.layout hides the package `layout`
newaxis = None  # in an index
globals().update(_public.NAMESPACES["torch"])  # the files of the ops declare their public names
gather = _gather  # the verb, and the op where a dim and an index are given
__getattr__ = _missing.module_getattr("torch", globals())

__all__ = [
    "AutogradVizError", "CannotReadError", "CannotWriteError", "DocumentError", "LayoutError", "MissingLibraryError",
    "NotDrawableError", "NotFiniteError", "Size", "Tensor", "UnknownChoiceError", "accelerator", "amp", "autocast", "autograd",
    "backends", "bfloat16", "bool", "cdouble", "cfloat", "channels_last", "channels_last_3d", "compare", "complex64",
    "complex128", "contiguous_format", "cuda", "default_generator", "device", "diff", "distributions", "double", "dtype", "e",
    "enable_grad", "explain", "fft", "float", "float16", "float32", "float64", "from_dlpack", "func", "functional",
    "get_default_dtype", "half", "iframe", "inf", "inference_mode", "int", "int8", "int16", "int32", "int64",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference_mode_enabled", "layout", "linalg",
    "load", "load_ipython_extension", "long", "map", "masked", "memory", "memory_format", "multiprocessing", "nan", "newaxis",
    "nn", "no_grad", "ops", "optim", "pi", "preserve_format", "random", "record", "save", "scope", "set_default_dtype",
    "set_grad_enabled", "set_language", "short", "show", "special", "step", "strided", "testing", "to_graphviz", "uint8",
    "unload_ipython_extension", "utils", "version", "vmap", "watch",
]  # fmt: skip
__all__.extend(op for op in _public.names_of("torch") if op[0] != "_" and op not in __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
