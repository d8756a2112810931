"""Checks of gradients against finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backward.backward import grad
from ..core.base.grad_mode import enable_grad
from ..core.base.memory import elements_overlap
from ..core.tensor import Tensor, refuse_if

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """The analytical gradient differs from finite differences."""


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    **unused: Any,
) -> bool:  # fmt: skip
    """Compare the gradients of `func` with central differences, (f(x + eps) - f(x - eps)) / 2 eps.

    Of the inputs, those that require grad are checked, and should be float64. The tolerances are added; `nondet_tol` is the
    tolerated difference between two runs of backward. `check_undefined_grad` also runs backward with undefined gradients of
    some outputs. The other options have no effect. Returns True if they agree.

    Raises GradcheckError: they differ (without `raise_exception`, it returns False); the message shows both matrices. Raises
    ValueError: no input requires grad.
    """
    try:
        _check(func, _as_tuple(inputs), eps, {"atol": atol, "rtol": rtol}, nondet_tol, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(
    func: Callable[..., Any], inputs: tuple[Any, ...], eps: float, close: dict[str, Any], nondet_tol: float, undefined: bool
) -> None:
    differentiated = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    _check_inputs(inputs)
    if not differentiated:
        said = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        raise ValueError(said)
    with enable_grad():
        outputs = _tensors(func(*inputs))
    for part in ("imag", "real") if any(o.is_complex() for o in outputs) else ("",):
        _compare(func, part, inputs, differentiated, eps, close, nondet_tol)
    tracked = [o for o in outputs if o.requires_grad]
    seeds = [Tensor(np.zeros_like(o._data)) for o in tracked]
    zeros = grad(tracked, differentiated, seeds, retain_graph=True, allow_unused=True) if tracked else ()
    refuse_if(any(g is not None and g._data.any() for g in zeros), "backward not multiplied by grad_output", GradcheckError)
    for o in tracked if undefined and len(tracked) > 1 else ():
        try:
            grad(o, differentiated, Tensor(np.ones_like(o._data)), retain_graph=True, allow_unused=True)
        except Exception as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at 'Notes about undefined output "
                "gradients' in 'tools/autograd/derivatives.yaml'"
            ) from error


def _compare(
    func: Callable[..., Any], part: str, inputs: tuple[Any, ...], differentiated: list[Tensor], eps: float,
    close: dict[str, Any], nondet_tol: float,
) -> None:  # fmt: skip
    """Compare both Jacobians of the real outputs, and of this part of the complex ones."""

    def part_of(outputs: list[Tensor]) -> list[Tensor]:
        return [getattr(o, part) if o.is_complex() else o for o in outputs]

    with enable_grad():
        whole = _tensors(func(*inputs))
    outputs = part_of(whole)
    tracked = [k for k, o in enumerate(outputs) if o.requires_grad]
    numerical = _numerical(lambda: part_of(_tensors(func(*inputs))), differentiated, outputs, eps)
    if not tracked and any(m.any() for matrices in numerical for m in matrices):
        raise GradcheckError("Numerical gradient for function expected to be zero")
    for nr, k in enumerate(tracked):
        analytical = _analytical(outputs[k], differentiated)
        again = _analytical(outputs[k], differentiated) if not np.isinf(nondet_tol) else analytical
        for i, (a, n) in enumerate(zip(analytical, (m[k] for m in numerical), strict=True)):
            if not np.allclose(again[i], a, rtol=0, atol=nondet_tol, equal_nan=True):
                raise GradcheckError(_NOT_REENTRANT.format(nondet_tol))
            if not np.allclose(a, n, **close):
                kind = "imaginary" if part == "imag" else part
                where = f"While considering the {kind} part of complex outputs only, " if whole[k].is_complex() else ""
                raise GradcheckError(
                    f"{where}Jacobian mismatch for output {nr} with respect to input {i},\n"
                    f"numerical:{Tensor(n)}\nanalytical:{Tensor(a)}\n"
                )


_NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, "
    "although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {}."
)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    """Warn about, or refuse, inputs that finite differences cannot handle."""
    for i, x in ((i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad):
        if x._data.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely "
                "fail if all the inputs are not of double precision floating point or complex. ", UserWarning, stacklevel=4,
            )  # fmt: skip
        if elements_overlap(x._data):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
                "able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it "
                "to gradcheck."
            )


def _analytical(output: Tensor, inputs: list[Tensor]) -> list[Any]:
    """The Jacobian by autograd: for each input a matrix (input elements, output elements)."""
    matrices = [np.zeros((x.numel(), output.numel()), x._data.dtype) for x in inputs]
    for j in range(output.numel()):
        seed = np.zeros(output._data.shape, output._data.dtype)
        seed.reshape(-1)[j] = 1
        found = grad(output, inputs, Tensor(seed), retain_graph=True, allow_unused=True)
        for matrix, g in zip(matrices, found, strict=True):
            if g is not None:
                matrix[:, j] = g._data.reshape(-1)
    return matrices


def _numerical(func: Callable[[], list[Tensor]], wanted: list[Tensor], outputs: list[Tensor], eps: float) -> list[list[Any]]:
    """The Jacobian by central differences: for each input and output, a matrix (input elements, output elements).

    Of a complex input x + yi it is the derivative by x plus i times that by y, as in PyTorch's gradients.
    """

    def values() -> list[Any]:
        return [o._data.reshape(-1).copy() for o in func()]

    found = []
    for x in wanted:
        matrices = [np.zeros((x.numel(), o.numel()), np.result_type(x._data.dtype, o._data.dtype)) for o in outputs]
        for place, index in enumerate(np.ndindex(x._data.shape)):
            before = x._data[index]
            for unit in (1, 1j) if x.is_complex() else (1,):
                x._data[index] = before + eps * unit
                above = values()
                x._data[index] = before - eps * unit
                below = values()
                x._data[index] = before
                for matrix, a, b in zip(matrices, above, below, strict=True):
                    matrix[place] += unit * ((a.astype(matrix.dtype) - b.astype(matrix.dtype)) / (2 * eps))
        found.append(matrices)
    return found


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_undefined_grad: bool = True, check_grad_dtypes: bool = False, **unused: Any,
) -> bool:  # fmt: skip
    """`gradcheck` of the gradient: it checks second derivatives. Its other arguments are those of `gradcheck`.

    `grad_outputs` is the v of vᵀJ for each output; default: random, with a fixed seed. `gen_non_contig_grad_outputs` makes the
    random ones non-contiguous.
    """
    xs = _as_tuple(inputs)
    outputs = [o for o in _tensors(func(*xs)) if o.requires_grad]
    seeds = _drawn(outputs, gen_non_contig_grad_outputs) if grad_outputs is None else _as_tuple(grad_outputs)
    count = len(seeds)

    def gradient(*args: Any) -> tuple[Tensor, ...]:
        given, vs = args[:-count], args[-count:]
        for x, like in zip(given, xs, strict=False):
            if isinstance(x, Tensor) and x.is_leaf and like.requires_grad:
                x.requires_grad_()
        with enable_grad():
            ys = [o for o in _tensors(func(*given)) if o.requires_grad]
            wanted = [x for x in given if isinstance(x, Tensor) and x.requires_grad]
            found = grad(ys, wanted, vs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient, (*xs, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
    )  # fmt: skip


def _drawn(outputs: list[Tensor], strided: bool) -> tuple[Tensor, ...]:
    """A random gradient for each output, equal in each call."""
    generator, seeds = np.random.default_rng(0), []
    for like in outputs:
        values = np.asarray(generator.standard_normal(like.shape), like._data.dtype)
        if like.is_complex():
            values = values + 1j * generator.standard_normal(like.shape)
        seeds.append(np.repeat(values, 2, axis=-1)[..., ::2] if strided and values.ndim else values)
    return tuple(Tensor(v).requires_grad_() for v in seeds)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _tensors(value: Any) -> list[Tensor]:
    return [o for o in _as_tuple(value) if isinstance(o, Tensor)]
