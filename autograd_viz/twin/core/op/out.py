"""`out=`: the result is written into a tensor of the caller. It is not recorded, because autograd cannot undo the write."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backward.instrumentation import about_to_write
from ..base.grad_mode import recording
from ..base.provenance import note_change
from ..tensor.tensor import Tensor

_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output shape {}. "
    "This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "
    "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)


# the functions with `out`, of torch and of other namespaces, that are no primitives: these take it anyway
WITH_OUT = """
all amax amin aminmax any arange argmax argmin argsort avg_pool1d bernoulli bincount blackman_window
block_diag bucketize cat cholesky cholesky_inverse cholesky_solve clamp clamp_max clamp_min clip column_stack
complex concat concatenate conj_physical copysign count_nonzero cross cummax cummin cumprod cumsum diag diff dist div divide
dstack empty eye float_power fmod full ger hamming_window hann_window histc histogram hstack index_add index_copy inner inverse
kron lerp linspace log_softmax logcumsumexp logspace logsumexp matmul matrix_power max mean median min mode msort multinomial
nanmean nanmedian nanquantile nansum nonzero normal ones outer poisson polar polygamma pow prod quantile rand
randint randn randperm range remainder renorm roll round row_stack scatter scatter_add scatter_reduce searchsorted softmax sort
square stack std sum take_along_dim tensordot threshold topk true_divide var vstack where zeros linalg.cholesky linalg.cond
linalg.det linalg.eig linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matmul linalg.matrix_norm
linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve
linalg.solve_triangular linalg.svdvals linalg.vecdot linalg.vector_norm special.logsumexp special.ndtr special.polygamma
special.round special.xlogy fft.fft fft.fft2 fft.fftfreq fft.fftn fft.ifft fft.ifft2 fft.ifftn fft.irfft
fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftfreq fft.rfftn
""".split()  # noqa: SIM905 -- the names as words
_MAKE = {
    "arange", "empty", "eye", "full", "linspace", "logspace", "normal", "ones", "rand", "randint", "randn", "randperm", "zeros",
}  # fmt: skip


def write_out(out: Any, name: str, op: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The result of ``op(*args, **options)``, written into `out`: a tensor, or a tuple of them for several results."""
    outs = tuple(out) if isinstance(out, tuple | list) else (out,)
    for o in outs:
        if not isinstance(o, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(o).__name__}")
    if recording() and any(isinstance(a, Tensor) and a.requires_grad for a in (*outs, *args, *options.values())):
        text = "functions with out=... arguments don't support automatic differentiation, but one of the arguments"
        raise RuntimeError(f"{name}(): {text} requires grad.")
    if name in _MAKE:
        options.setdefault("dtype", outs[0].dtype)
    results = op(*args, **options)
    if isinstance(results, Tensor):
        _write(outs[0], results)
        return outs[0]
    if len(outs) != len(results):
        raise TypeError(f"{name}(): expected out to be a tuple of {len(results)} tensors, but got {len(outs)}")
    for o, result in zip(outs, results, strict=True):
        _write(o, result)
    return type(results)(*outs) if hasattr(results, "_fields") else outs


def _write(out: Tensor, result: Tensor) -> None:
    if not np.can_cast(result._data.dtype, out._data.dtype, "same_kind"):
        raise RuntimeError(f"result type {result.dtype.legacy} can't be cast to the desired output type {out.dtype.legacy}")
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(_RESIZED.format(list(out.shape), list(result.shape)), UserWarning, stacklevel=5)
        out._data = np.empty(result.shape, out._data.dtype)
    about_to_write(out._data)
    np.copyto(out._data, result._data, casting="unsafe")
    out._bump_version()
    note_change(out)


def takes_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function the argument `out`."""

    @functools.wraps(function)
    def with_out(*args: Any, **options: Any) -> Any:
        if (out := options.pop("out", None)) is None:
            return function(*args, **options)
        return write_out(out, function.__name__, function, args, options)

    return with_out


def give_out(namespaces: dict[str, dict[str, Any]]) -> None:
    """Give the public functions of `WITH_OUT` the argument. Methods do not have it."""
    for full in WITH_OUT:
        space, _, name = full.rpartition(".")
        names = namespaces[space or "torch"]
        if name in names and not hasattr(names[name], "takes_out") and not hasattr(names[name], "program"):
            names[name] = takes_out(names[name])
            names[name].takes_out = True
