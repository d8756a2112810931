"""Programs about grad modes and anomaly mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program


@program
def no_grad_is_a_decorator_too(torch: Any) -> Iterator[Any]:
    @torch.no_grad()
    def f(x: Any) -> Any:
        return x * 2

    yield f(leaf(torch, 1.0)).requires_grad, torch.is_grad_enabled()


@program
def anomaly_mode_tells_where_an_error_comes_from(torch: Any) -> Iterator[Any]:
    with torch.autograd.set_detect_anomaly(True):
        yield torch.is_anomaly_enabled()
        leaf(torch, -1.0).sqrt().backward()


@program
def anomaly_mode_off_lets_nan_pass(torch: Any) -> Iterator[Any]:
    x = leaf(torch, -1.0)
    x.sqrt().backward()
    yield x.grad, torch.is_anomaly_enabled()


@program
def inference_tensors_stay_out_of_autograd(torch: Any) -> Iterator[Any]:
    with torch.inference_mode():
        y = torch.ones(2) * 2
        yield y.is_inference(), torch.is_inference_mode_enabled()
    yield (y + 1).is_inference()
    try:
        y.add_(1)
    except RuntimeError as error:
        yield str(error)
    leaf(torch, 1.0) * y


@program
def functional_derivatives(torch: Any) -> Iterator[Any]:
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    yield f.jacobian(lambda x: x * x, x)
    yield f.hessian(lambda x: (x**3).sum(), x)
    yield f.vjp(lambda x: x * x, x, torch.tensor([1.0, 0.5]))
    yield f.jvp(lambda x: x * x, x, torch.tensor([1.0, 0.5]))
    yield f.hvp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 0.5]))
    yield f.jacobian(lambda x, y: (x * y.sum(), x + 1), (x, torch.tensor([3.0])))
    yield f.hessian(lambda x, y: (x * y).sum(), (x, x))


@program
def functional_errors(torch: Any) -> Iterator[Any]:
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    for call in (
        lambda: f.vjp(lambda x: x * x, x),
        lambda: f.vjp(lambda x: x * x, x, torch.ones(3)),
        lambda: f.hessian(lambda x: x * x, x),
        lambda: f.jacobian(lambda x: torch.ones(2), x, strict=True),
    ):
        try:
            yield call()
        except (RuntimeError, TypeError) as error:
            yield type(error).__name__, str(error).split("\n")[0]


@program
def gradcheck_finds_a_wrong_backward(torch: Any) -> Iterator[Any]:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    yield torch.autograd.gradcheck(lambda x: x.exp() * x, x), torch.autograd.gradgradcheck(lambda x: x.exp() * x, x)
    yield torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False)
    try:
        torch.autograd.gradcheck(Wrong.apply, (x,))
    except RuntimeError as error:
        yield type(error).__name__, str(error).split("\n")[0]


@program
def gradcheck_of_complex_functions(torch: Any) -> Iterator[Any]:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, z: Any) -> Any:
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2 * ctx.saved_tensors[0]  # the conjugate is forgotten

    class Deaf(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return torch.full_like(grad, 2.0)

    z, w = (torch.tensor(v, dtype=torch.complex128, requires_grad=True) for v in ([0.3 + 0.7j, -1.2], [0.5, 0.2 + 1.1j]))
    x = torch.tensor([0.5, 1.2], dtype=torch.float64, requires_grad=True)
    for function, inputs in (
        (lambda z: z * z, (z,)),
        (torch.tanh, (z,)),
        (torch.sigmoid, (z,)),
        (torch.abs, (w,)),
        (torch.angle, (w,)),
        (torch.prod, (z,)),
        (torch.fft.fft, (z,)),
        (torch.outer, (z, w)),
        (lambda z: z.conj() * z.real, (z,)),
        (lambda w, x: w**x, (w, x)),
        (lambda x: torch.complex(x, x * x), (x,)),
        (lambda z, w: (z / w, z.abs(), (z * w).detach()), (z, w)),
        (Wrong.apply, (z,)),
        (Deaf.apply, (x,)),
        (Deaf.apply, (x[:1].detach().requires_grad_(),)),
        (lambda z: z.detach(), (z,)),
    ):
        for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
            try:
                yield check(function, inputs), check(function, inputs, raise_exception=False)
            except (RuntimeError, ValueError) as error:
                yield type(error).__name__, str(error).split("\n")[0]
            except TypeError:  # no output to differentiate twice
                yield "TypeError"
