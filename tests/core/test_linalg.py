"""Matrix ops by their public names: gradients of what takes symmetric matrices, what PyTorch refuses, and its layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

from .cases import array
from .cases.linalg import well
from .test_rules import analytic, numeric, scalar


def positive_definite(a: av.Tensor) -> Any:
    """A symmetric matrix with distinct positive eigenvalues."""
    return a @ a.mT + av.tensor(np.diag(1.0 + np.arange(a.shape[-1])))


GRADIENTS: list[Any] = [
    pytest.param(f, arrays, id=name)
    for name, f, arrays in (
        ("cholesky", lambda a: av.cholesky(positive_definite(a)), [array(2, 2)]),
        ("cholesky upper", lambda a: av.linalg.cholesky(positive_definite(a), upper=True), [array(3, 3)]),
        ("cholesky_ex", lambda a: av.linalg.cholesky_ex(positive_definite(a)).L, [array(2, 2, 2)]),
        ("eigh", lambda a: tuple(x * x for x in av.linalg.eigh(positive_definite(a))), [array(2, 2)]),
        ("eigvalsh", lambda a: av.linalg.eigvalsh(positive_definite(a)), [array(3, 3)]),
        ("svdvals", av.linalg.svdvals, [well(3, 2)]),
        ("svd full", lambda a: av.linalg.svd(a, full_matrices=True).S, [well(3, 2)]),
        ("det", av.linalg.det, [well(2, 2, 2)]),
        ("slogdet", lambda a: av.slogdet(a).logabsdet, [well(2, 2)]),
        ("logdet", av.logdet, [well(3, 3)]),
        ("solve", av.linalg.solve, [well(2, 2), array(2, 3)]),
        ("solve right", lambda a, b: av.linalg.solve(a, b, left=False), [well(2, 2), array(3, 2)]),
        ("solve vector", av.linalg.solve, [well(2, 2), array(2)]),
        ("solve batch of vectors", av.linalg.solve, [well(2, 2, 2), array(2, 2)]),
        ("lstsq residuals", lambda a, b: av.linalg.lstsq(a, b, driver="gelsd")[:2], [well(3, 2), array(3, 1)]),
        ("pinv hermitian", lambda a: av.linalg.pinv(positive_definite(a), hermitian=True), [array(2, 2)]),
        ("matmul", lambda a, b: a @ b, [array(2, 1, 2, 3), array(2, 3, 2)]),
        ("matmul vector", lambda a, b: a @ b, [array(3), array(2, 3, 2)]),
        ("einsum", lambda a, b: av.einsum("bij,jk->bk", a, b), [array(2, 2, 3), array(3, 2)]),
        ("linear", av.nn.functional.linear, [array(2, 2, 3), array(2, 3), array(2)]),
        ("matrix_power", lambda a: av.linalg.matrix_power(a, -3), [well(2, 2)]),
        ("cov", lambda a, w: av.cov(a, aweights=w * w), [array(2, 3), array(3)]),
    )
]


def the_function(f: Callable[..., Any]) -> Callable[[list[av.Tensor]], av.Tensor]:
    return lambda inputs: scalar(f, inputs)


@pytest.mark.parametrize(("f", "arrays"), GRADIENTS)
def test_first_derivative(f: Callable[..., Any], arrays: list[Any]) -> None:
    of = the_function(f)
    _, grads = analytic(of, arrays)
    for got, want in zip(grads, numeric(lambda xs: of([av.tensor(x) for x in xs]).item(), arrays), strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("f", "arrays"), GRADIENTS)
def test_second_derivative(f: Callable[..., Any], arrays: list[Any]) -> None:
    of = the_function(f)

    def gradient_sum(inputs: list[av.Tensor]) -> av.Tensor:
        grads = av.autograd.grad(of(inputs), inputs, create_graph=True)
        return sum(((g * g).sum() for g in grads), av.tensor(0.0, dtype=av.float64))

    inputs = [av.tensor(a, requires_grad=True) for a in arrays]
    grads = av.autograd.grad(gradient_sum(inputs), inputs, allow_unused=True)
    wanted = numeric(lambda xs: gradient_sum([av.tensor(x, requires_grad=True) for x in xs]).item(), arrays)
    for got, want in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(0 if got is None else got.numpy(), want, rtol=1e-4, atol=1e-4)


def of_shape(*shape: int) -> av.Tensor:
    return av.ones(*shape)


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: of_shape(2, 3) @ of_shape(2, 3), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        (lambda: of_shape(5, 2, 3) @ of_shape(2, 3), "mat1 and mat2 shapes cannot be multiplied (10x3 and 2x3)"),
        (
            lambda: of_shape(5, 2, 3) @ of_shape(4, 3, 2),
            "The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 0",
        ),
        (
            lambda: of_shape(5, 2, 3) @ of_shape(5, 2, 3),
            "Expected size for first two dimensions of batch2 tensor to be: [5, 3] but got: [5, 2].",
        ),
        (
            lambda: of_shape(2, 3) @ of_shape(3, 2).double(),
            "expected m1 and m2 to have the same dtype, but got: float != double",
        ),
        (lambda: av.bmm(of_shape(2, 3), of_shape(5, 3, 2)), "batch1 must be a 3D tensor"),
        (
            lambda: av.addmm(of_shape(3, 3), of_shape(2, 3), of_shape(3, 2)),
            "The expanded size of the tensor (2) must match the existing size (3) at non-singleton dimension 1.  "
            "Target sizes: [2, 2].  Tensor sizes: [3, 3]",
        ),
        (
            lambda: av.nn.functional.linear(of_shape(2, 3), of_shape(4, 2)),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x4)",
        ),
        (
            lambda: av.einsum("ij,jk", of_shape(2, 3), of_shape(4, 3)),
            "einsum(): subscript j has size 4 for operand 1 which does not broadcast with previously seen size 3",
        ),
        (lambda: av.einsum("ij,jk", of_shape(2, 3)), "einsum(): fewer operands were provided than specified in the equation"),
        (lambda: av.einsum("ij->ii", of_shape(2, 3)), "einsum(): output subscript i appears more than once in the output"),
        (
            lambda: av.linalg.multi_dot([of_shape(2, 3), of_shape(2, 3)]),
            "multi_dot(): tensors 0 and 1 with shapes [2, 3] and [2, 3] cannot be multiplied",
        ),
        (lambda: av.linalg.inv(of_shape(3)), "linalg.inv: The input tensor A must have at least 2 dimensions."),
        (
            lambda: av.linalg.inv(of_shape(2, 3)),
            "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices",
        ),
        (
            lambda: av.linalg.inv(of_shape(2, 2).long()),
            "linalg.inv: Expected a floating point or complex tensor as input. Got Long",
        ),
        (
            lambda: av.linalg.solve(of_shape(3, 3), of_shape(4, 2)),
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 4x2)",
        ),
        (lambda: av.cdist(of_shape(3, 2), of_shape(3, 3)), "X1 and X2 must have the same number of columns. X1: 2 X2: 3"),
        (lambda: av.linalg.lu(of_shape(3)), "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [3] instead"),
        (
            lambda: av.linalg.lu(of_shape(3, 3), pivot=False),
            "linalg.lu: LU without pivoting is not implemented on the CPU",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_pytorchs_words(refused: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        refused()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (
            lambda: av.linalg.inv(av.ones(2, 2)),
            "linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the input matrix is "
            "singular.",
        ),
        (
            lambda: av.linalg.solve(av.zeros(2, 3, 3), av.ones(2, 3)),
            "torch.linalg.solve: (Batch element 0): The solver failed because the input matrix is singular.",
        ),
        (
            lambda: av.linalg.cholesky(-av.ones(1, 1)),
            "linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the "
            "leading minor of order 1 is not positive-definite).",
        ),
    ],
)
def test_a_singular_matrix_raises_linalgerror(refused: Callable[[], Any], message: str) -> None:
    with pytest.raises(av.linalg.LinAlgError) as raised:
        refused()
    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "qr", "svd", "eigh", "slogdet", "lu", "pinv", "matrix_exp"])
def test_float32_stays_float32(name: str) -> None:
    a = av.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)
    out = getattr(av.linalg, name)(a)
    results = [t for t in (out if isinstance(out, tuple) else (out,)) if t.requires_grad]
    sum((t.sum() for t in results), av.tensor(0.0)).backward()
    assert {t.dtype for t in results} == {av.float32}
    assert a.grad.dtype is av.float32


def test_a_batch_times_a_weight_is_one_matrix_product() -> None:
    """The rows of all matrices go into one mm, so that the weight gets one gradient."""
    x, w = av.ones(4, 2, 3, requires_grad=True), av.ones(3, 5, requires_grad=True)
    node = (x @ w).grad_fn
    assert [node.name(), node.next_functions[0][0].name()] == ["UnsafeViewBackward0", "MmBackward0"]


def test_linear_is_one_addmm() -> None:
    x, w, b = av.ones(2, 3), av.ones(4, 3, requires_grad=True), av.ones(4, requires_grad=True)
    node = av.nn.functional.linear(x, w, b).grad_fn
    assert node.name() == "AddmmBackward0"
    assert [n and n.name() for n, _ in node.next_functions] == ["torch::autograd::AccumulateGrad", None, "TBackward0"]


def test_eig_sends_real_gradients_back_through_complex_results() -> None:
    """A matrix with a pair of complex eigenvalues; their sizes, and those of the eigenvectors' elements, are real."""
    a = np.array([[1.0, 2.0, 0.3], [-1.5, 0.7, 0.2], [0.1, 0.4, 3.0]])
    of = the_function(lambda x: tuple(t.abs() for t in av.linalg.eig(x)))
    _, (grad,) = analytic(of, [a])
    assert grad.dtype is av.float64
    np.testing.assert_allclose(grad.numpy(), numeric(lambda xs: of([av.tensor(xs[0])]).item(), [a])[0], rtol=1e-5, atol=1e-6)


def test_vecdot_is_one_op_for_two_vectors_and_a_sum_of_products_for_more() -> None:
    a, b = (av.tensor(array(2, 3), requires_grad=True) for _ in range(2))
    assert av.linalg.vecdot(a[0], b[0]).grad_fn.name() == "VdotBackward0"
    for first, second in ((a, b), (a, b[0]), (a[0], b)):
        out = av.linalg.vecdot(first, second)
        assert out.grad_fn.name() == "SumBackward1"
        np.testing.assert_allclose(out.detach().numpy(), (first.detach().numpy() * second.detach().numpy()).sum(-1))
