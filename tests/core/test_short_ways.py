"""Ways around what usual tensors do not need: the same results, without views, hooks and look-ups."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import autograd_viz as av
from autograd_viz.twin.core.backward.engine import GraphTask
from autograd_viz.twin.core.ops.activation import activation
from autograd_viz.twin.core.ops.index import indexing
from autograd_viz.twin.core.ops.reduce import reduction


@pytest.fixture
def forbid(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], None]:
    """Make the long way raise."""

    def raises(*args: Any, **options: Any) -> None:
        raise AssertionError("the long way")

    return lambda owner, name: monkeypatch.setattr(owner, name, raises)


def test_an_attribute_is_stored_by_pythons_own_way() -> None:
    """A `__delattr__` or `__setattr__` of our own costs a quarter of the speed of the core."""
    assert av.Tensor.__setattr__ is object.__setattr__
    assert av.Tensor.__delattr__ is object.__delattr__


def test_one_element_is_written_without_a_view_or_an_op(forbid: Callable[[Any, str], None]) -> None:
    forbid(indexing, "write")
    a, table = av.tensor([1.0, 2.0]), av.zeros(2, 3)
    a[0] = a[1] + a[-1]
    a[-1] = 7
    table[1, 2] = a[0]
    assert a.tolist() == [4, 7] and table.tolist() == [[0, 0, 0], [0, 0, 4]]
    assert (a._version, table._version) == (2, 1)


def test_an_element_is_written_the_long_way_where_that_makes_a_difference() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    c = av.zeros(2)
    c[0] = x[1] * 3
    c[1] = 5.0  # c has a history now
    c.sum().backward()
    assert c.grad_fn is not None and c.requires_grad and x.grad is not None and x.grad.tolist() == [0, 3]
    whole = av.tensor([1, 2])
    whole[0] = av.tensor(2.7)
    assert whole.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="more than one element"):
        av.zeros(1).expand(3)[:2][...] = av.tensor([1.0, 2.0])
    with pytest.raises(IndexError, match="index 2 is out of bounds for dimension 0 with size 2"):
        whole[2] = 1


def test_a_saved_tensor_notices_that_an_element_was_written() -> None:
    x, c = av.tensor([1.0, 2.0], requires_grad=True), av.ones(2)
    loss = (x * c).sum()
    c[0] = 3.0
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        loss.backward()


def test_a_recorded_pass_and_a_wanted_leaf_without_hooks_run_without_their_surroundings(
    forbid: Callable[[Any, str], None],
) -> None:
    x, y = av.tensor(2.0, requires_grad=True), av.tensor(3.0, requires_grad=True)
    forbid(GraphTask, "attentive_step")
    (g,) = av.autograd.grad(x * x * y, x, create_graph=True)
    (second,) = av.autograd.grad(g, x)
    assert (g.item(), second.item(), second.requires_grad) == (12, 6, False)


def test_the_hook_of_a_wanted_leaf_runs() -> None:
    x = av.tensor(2.0, requires_grad=True)
    x.register_hook(lambda grad: grad * 10)
    for create_graph in (False, True):
        assert av.autograd.grad(x * x, x, create_graph=create_graph)[0].item() == 40


def test_gelu_of_float32_is_as_close_as_float32_without_scipy(forbid: Callable[[Any, str], None]) -> None:
    values = np.linspace(-9, 9, 3 * activation._BLOCK + 7, dtype=np.float32)
    exact = values.astype(float) * special.ndtr(values.astype(float))
    slope = special.ndtr(values.astype(float)) + values * np.exp(-(values.astype(float) ** 2) / 2) / np.sqrt(2 * np.pi)
    x = av.tensor(values, requires_grad=True)
    forbid(special, "ndtr")
    y = av.nn.functional.gelu(x)
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(y.detach().numpy(), exact, rtol=0, atol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), slope, rtol=0, atol=5e-7)
    turned = av.tensor(values[:6].reshape(2, 3)).t()
    assert av.nn.functional.gelu(turned).stride() == turned.stride()
    far = av.nn.functional.gelu(av.tensor([-1e30, -20.0, -0.0, 0.0, 20.0, 1e30, float("nan")]))
    np.testing.assert_array_equal(far.numpy(), np.float32([0, 0, 0, 0, 20, 1e30, np.nan]))


def test_a_cell_that_runs_again_is_one_statement() -> None:
    x = av.tensor(1.0, requires_grad=True)
    for _ in range(20):
        (x * x).backward()
        exec(compile("x.grad = None", "<cell>", "exec"), {"x": x})
    assert [e.kind for e in x._events] == ["cleared"] * 8


def test_a_method_with_a_program_in_it_knows_its_caller() -> None:
    x = av.tensor([[1.0, 2.0]], requires_grad=True)
    w = av.tensor([[3.0], [4.0]])
    assert (x @ w).item() == 11
    assert x.mean().item() == 1.5  # both programs are there now
    made = x @ w, x.mean()
    assert av.Tensor.__matmul__ is not av.Tensor.matmul and av.Tensor.mean is not av.mean
    assert [type(y.grad_fn).__name__ for y in made] == ["MmBackward0", "MeanBackward0"]
    assert {y.grad_fn.at.code.co_filename for y in made} == {__file__}
    assert inspect.signature(av.Tensor.mean) == inspect.signature(av.mean)


def test_a_method_with_a_program_in_it_hands_other_arguments_on() -> None:
    x = av.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert x.mean(axis=0).tolist() == x.mean(0).tolist() == [2, 3.5]
    assert (x @ av.tensor([1.0, 1.0])).tolist() == [3, 8]
    assert x.__matmul__(other=x).tolist() == x.matmul(x).tolist()
    for call, kind, text in (
        (lambda: x @ av.ones(3, 2), RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x2)"),
        (lambda: x.__matmul__(3), TypeError, "matmul(): argument 'other' (position 2) must be Tensor, not int"),
        (lambda: av.ones(2, 2, dtype=av.int64).mean(), RuntimeError, "mean(): could not infer output dtype."),
        (lambda: x.mean(0, axis=1), TypeError, "multiple values"),
    ):
        with pytest.raises(kind, match=re.escape(text)):
            call()


def test_a_replaced_method_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction.mean_all, "_program", None)
    monkeypatch.setattr(av.Tensor, "mean", mine := lambda self: av.mean(self) * 2)
    assert av.tensor([1.0, 2.0]).mean().item() == 3
    assert av.Tensor.mean is mine


@pytest.mark.parametrize(
    "several",
    [
        lambda x: x.max(1).values,
        lambda x: x.topk(2).values,
        lambda x: av.nn.functional.nll_loss(x, av.tensor([0, 1]), reduction="none"),
    ],
)
def test_a_result_among_several_that_ran_under_no_grad_is_an_input_outside_of_it(several: Callable[[Any], Any]) -> None:
    with av.no_grad():
        y = several(av.tensor([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]], requires_grad=True))
    assert (y * 2).tolist() == [[2 * n for n in row] if isinstance(row, list) else 2 * row for row in y.tolist()]
