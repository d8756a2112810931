"""Reductions beyond their derivatives: ties, kinks, types, refusals and results, each as PyTorch has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz import twin

NAN, INF = float("nan"), float("inf")


def gradient(function: Callable[[av.Tensor], av.Tensor], *values: Any) -> Any:
    x = av.tensor(list(values), requires_grad=True)
    function(x).sum().backward()
    assert x.grad is not None
    return x.grad.tolist()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.max(), [0.5, 0.5, 0.0]),
        (lambda x: x.amax(0), [0.5, 0.5, 0.0]),
        (lambda x: x.max(0).values, [1.0, 0.0, 0.0]),
        (lambda x: x.cummax(0).values, [1.0, 2.0, 0.0]),
        (lambda x: x.median(), [0.5, 0.5, 0.0]),
        (lambda x: x.topk(1).values, [1.0, 0.0, 0.0]),
        (lambda x: x.norm(INF), [0.5, 0.5, 0.0]),
    ],
)
def test_equal_elements_share_a_gradient_unless_the_op_says_which_one_it_chose(function: Any, expected: list[float]) -> None:
    assert gradient(function, 1.0, 1.0, 0.0) == expected


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (lambda x: x.prod(), (0.0, 2.0, 3.0), [6.0, 0.0, 0.0]),
        (lambda x: x.prod(), (0.0, 0.0, 3.0), [0.0, 0.0, 0.0]),
        (lambda x: x.cumprod(0), (2.0, 0.0, 3.0), [1.0, 8.0, 0.0]),
        (lambda x: x.norm(), (0.0, 0.0), [0.0, 0.0]),
        (lambda x: x.std(), (1.0, 1.0), [0.0, 0.0]),
        (lambda x: x.nansum(), (1.0, NAN), [1.0, 0.0]),
        (lambda x: x.logcumsumexp(0), (-1000.0, 1000.0), [1.0, 1.0]),
    ],
)
def test_gradients_are_right_where_the_textbook_formula_divides_by_zero(function: Any, values: Any, expected: Any) -> None:
    assert gradient(function, *values) == expected


def test_a_reduction_with_places_gives_a_named_tuple_that_unpacks_and_prints_as_in_pytorch() -> None:
    best = av.tensor([[1.0, 3.0], [4.0, 2.0]]).max(1)
    values, indices = best
    assert (values.tolist(), best.indices.tolist()) == ([3.0, 4.0], [1, 0])
    assert indices is best.indices
    assert repr(best) == "torch.return_types.max(\nvalues=tensor([3., 4.]),\nindices=tensor([1, 0]))"


def test_places_of_equal_elements_are_those_of_pytorch() -> None:
    x = av.tensor([1.0, 1.0, 0.0, 0.0])
    assert x.max(0).indices.item() == 0
    assert x.min(0).indices.item() == 2
    assert x.cummin(0).indices.tolist() == [0, 1, 2, 3]
    assert x.mode().indices.item() == 3
    assert x.median(0).indices.item() == 3
    assert x.argsort(descending=True).tolist() == [0, 1, 2, 3]


def test_nan_counts_as_the_largest() -> None:
    x = av.tensor([1.0, NAN, 2.0])
    assert x.sort(descending=True).indices.tolist() == [1, 2, 0]
    assert (x.argmax().item(), x.argmin().item(), x.max(0).indices.item()) == (1, 1, 1)
    assert np.isnan(x.median().item())
    assert x.nanmedian().item() == 1.0


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "std", "amax", "logsumexp", "softmax", "cumsum", "norm", "sort"])
def test_the_element_type_is_kept(name: str) -> None:
    needs_dim = name in ("logsumexp", "softmax", "cumsum")
    for dtype in (av.float16, av.float32, av.float64):
        x = av.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype)
        result = getattr(x, name)(*((0,) if needs_dim else ()))
        assert (result[0] if name == "sort" else result).dtype is dtype


def test_integers_add_up_in_int64_and_dtype_changes_that() -> None:
    x = av.tensor([True, True, False])
    assert (x.sum().dtype, x.cumsum(0).dtype, x.prod().dtype) == (av.int64, av.int64, av.int64)
    assert av.tensor([1, 2]).mean(dtype=av.float32).item() == 1.5
    assert av.tensor([1, 2]).softmax(0, dtype=av.float64).dtype is av.float64


def test_dims_may_be_named_as_in_numpy_and_an_empty_list_is_all_of_them() -> None:
    x = av.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(axis=0, keepdims=True).tolist() == [[4.0, 6.0]]
    assert x.sum(()).item() == x.sum((0, -1)).item() == 10.0
    assert x.std(0, False).tolist() == x.std(0, correction=0).tolist() == [1.0, 1.0]


def test_a_number_is_reduced_as_it_is() -> None:
    x = av.tensor(2.0)
    for result in (x.sum(0), x.max(0).values, x.cumsum(0), x.softmax(0) * 2, x.sort().values, x.logsumexp(0), x.prod(0)):
        assert result.shape == ()
        assert result.item() == 2.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, z: x.sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
        (lambda x, z: x.max(5), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)"),
        (
            lambda x, z: z.max(),
            RuntimeError,
            r"max\(\): Expected reduction dim to be specified for input.numel\(\) == 0. Specify the reduction dim with the "
            "'dim' argument.",
        ),
        (lambda x, z: z.argmax(), IndexError, r"argmax\(\): Expected reduction dim to be specified for input.numel\(\) == 0."),
        (lambda x, z: z.max(0), IndexError, r"max\(\): Expected reduction dim 0 to have non-zero size."),
        (
            lambda x, z: z.amax(),
            RuntimeError,
            r"amax\(\): Expected reduction dim to be specified for input.numel\(\) == 0. Specify the reduction dim with the "
            "'dim' argument.",
        ),
        (lambda x, z: z.amin(0), IndexError, r"amin\(\): Expected reduction dim 0 to have non-zero size."),
        (lambda x, z: x.topk(3), RuntimeError, "selected index k out of range"),
        (lambda x, z: x.kthvalue(3, 1), RuntimeError, r"kthvalue\(\): selected number k out of range for dimension 1"),
        (lambda x, z: av.tensor([1]).std(), RuntimeError, "std and var only support floating point and complex dtypes"),
        (lambda x, z: x.quantile(2.0), RuntimeError, r"quantile\(\) q must be in the range \[0, 1\] but got 2"),
        (lambda x, z: x.cumsum(), TypeError, r'cumsum\(\) missing 1 required positional arguments: "dim"'),
        (lambda x, z: av.sum(3), TypeError, r"sum\(\): argument 'input' \(position 1\) must be Tensor, not int"),
        (lambda x, z: twin.diff(x, n=-1), RuntimeError, "order must be non-negative but got -1"),
    ],
)
def test_bad_input_is_refused_in_the_words_of_pytorch(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"^{words}$"):
        call(av.tensor([[1.0, 2.0], [3.0, 4.0]]), av.tensor([]))


def test_softmax_writes_its_gradient_as_the_textbook_does() -> None:
    from autograd_viz.twin.core.base.symbol import Symbol
    from autograd_viz.twin.core.op.formula import formulas

    node = av.tensor([1.0, 2.0], requires_grad=True).softmax(0).grad_fn
    symbols = {name: Symbol(name) for name, v in node._saved().items() if hasattr(v, "unpack")}
    formula = formulas(node, (Symbol("grad"),), symbols)["self"]
    assert formula == "(grad - sum(grad * result, 0, keepdim=True)) * result"
