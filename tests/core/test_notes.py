"""The programs of the notes, with the numbers that PyTorch 2.13 prints for them."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av


def leaves(*values: float) -> list[av.Tensor]:
    return [av.tensor(v, requires_grad=True) for v in values]


def tree(node: Any) -> Any:
    """A backward graph as nested names: {"MulBackward0": [(…, 0), …]}."""
    return None if node is None else {type(node).__name__: [(tree(n), i) for n, i in node.next_functions]}


ACC = {"AccumulateGrad": []}


def test_three_leaves_get_the_gradients_of_the_chain_rule() -> None:
    a, b, d = leaves(2.0, 3.0, 4.0)
    c = a * b
    e = c * d
    e.backward()
    assert [x.grad.item() for x in (a, b, d)] == [12.0, 8.0, 6.0]
    assert tree(e.grad_fn) == {"MulBackward0": [({"MulBackward0": [(ACC, 0), (ACC, 0)]}, 0), (ACC, 0)]}


def test_a_leaf_without_requires_grad_has_no_node() -> None:
    a, b = av.tensor(2.0, requires_grad=True), av.tensor(3.0)
    c = a * b
    assert tree(c.grad_fn) == {"MulBackward0": [(ACC, 0), (None, 0)]}
    assert c.grad_fn._saved_other is b and c.grad_fn._saved_self is None


def test_unbind_edges_carry_the_index_of_the_output() -> None:
    a = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b, c, d = a.unbind()
    e = b * c * d
    assert [i for _, i in e.grad_fn.next_functions[0][0].next_functions] == [0, 1]
    assert e.grad_fn.next_functions[1][1] == 2
    e.backward()
    assert a.grad.tolist() == [6.0, 3.0, 2.0]


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize(("zero_first", "expected"), [(False, 18.0), (True, 6.0)])
def test_second_derivatives_add_up_to_18_unless_zeroed_first(zero_first: bool, expected: float) -> None:
    x, y = leaves(2.0, 3.0)
    (x * x * y).backward(create_graph=True)
    if zero_first:
        x.grad.data.zero_()
    x.grad.backward()
    assert x.grad.item() == expected
    assert str(x.grad) == f"tensor({expected:.0f}., grad_fn=<CopyBackwards>)"


def test_grad_fn_can_be_called_by_hand_down_to_the_leaves() -> None:
    b, w = leaves(1.0, 2.0)
    a = av.relu(w * av.tensor(3.0) + b)
    dv = a.grad_fn(av.tensor(1.0))
    assert str(dv) == "tensor(1., grad_fn=<ThresholdBackwardBackward0>)"
    du, db = a.grad_fn.next_functions[0][0](dv)
    (mul, _), (acc_b, _) = a.grad_fn.next_functions[0][0].next_functions
    assert acc_b(db) == () and b.grad.item() == 1.0
    dw, dx = mul(du)
    assert (dw.item(), dx) == (3.0, None)


def test_a_function_of_the_users_own_is_one_node_with_its_name() -> None:
    class Square(av.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    (x,) = leaves(3.0)
    y = Square.apply(x)
    assert tree(y.grad_fn) == {"SquareBackward": [(ACC, 0)]}
    y.backward()
    assert x.grad.item() == 6.0
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn.saved_tensors


def test_only_tensor_arguments_of_a_function_have_an_edge() -> None:
    class Scale(av.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float, name: str) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor, None, None

    (x,) = leaves(3.0)
    y = Scale.apply(x, 4.0, "four")
    assert tree(y.grad_fn) == {"ScaleBackward": [(ACC, 0)]}
    y.backward()
    assert x.grad.item() == 4.0


def test_sgd_moves_against_the_gradient_and_zero_grad_forgets_it() -> None:
    (w,) = leaves(3.0)
    optimizer = av.optim.SGD([w], lr=0.1)
    (w * w).backward()
    optimizer.step()
    assert w.item() == pytest.approx(2.4)
    optimizer.zero_grad()
    assert w.grad is None and w.is_leaf
