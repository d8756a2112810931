"""The schedule of a backward pass, and what it leaves behind."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.twin.core.backward.backward import start
from autograd_viz.twin.core.base.grad_mode import is_grad_enabled
from benchmarks.core import bytes_per_op

from ..functions import moody
from .stepwise import steps_of


def run(root: av.Tensor, **options: Any) -> list[str]:
    """Names of the nodes in the order in which they ran."""
    task = start(root, None, options.get("retain_graph"), options.get("create_graph", False))
    return [type(s.node).__name__ for s in steps_of(task)]


def test_accumulate_grad_runs_as_soon_as_it_is_ready() -> None:
    a, b, d = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    e = a * b * d
    assert run(e) == ["MulBackward0", "AccumulateGrad", "MulBackward0", "AccumulateGrad", "AccumulateGrad"]


def test_the_node_created_last_runs_first() -> None:
    x = av.tensor(2.0, requires_grad=True)
    assert run(x.exp() + x.sin()) == ["AddBackward0", "SinBackward0", "ExpBackward0", "AccumulateGrad"]


@pytest.mark.parametrize(
    ("count", "order"), [(2, [0, 1]), (3, [0, 1, 2]), (4, [0, 2, 1, 3]), (5, [0, 2, 4, 1, 3]), (6, [0, 2, 5, 4, 1, 3])]
)
def test_equal_priorities_leave_the_queue_as_in_pytorch(count: int, order: list[int]) -> None:
    """The orders were recorded from torch 2.13 with a Function of that many leaves."""
    xs = [av.tensor(1.0, requires_grad=True) for _ in range(count)]
    task = start(av.stack(xs).sum(), None, None, False)
    ran = [s.node.variable for s in steps_of(task) if type(s.node).__name__ == "AccumulateGrad"]
    assert [next(i for i, x in enumerate(xs) if x is v) for v in ran] == order


def test_a_node_runs_once_with_the_sum_of_what_arrives() -> None:
    x = av.tensor(3.0, requires_grad=True)
    y = x * x
    steps = list(steps_of(start(y + y, None, None, False)))
    (mul,) = [s for s in steps if type(s.node).__name__ == "MulBackward0"]
    assert [float(g) for g in mul.grad_outputs] == [2.0]
    assert x.grad.item() == 12.0


def test_broadcasting_is_undone_between_nodes() -> None:
    a = av.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    b = av.tensor([[1.0], [2.0]], requires_grad=True)
    c = av.tensor(2.0, requires_grad=True)
    (a * b + c).sum().backward()
    assert a.grad.tolist() == [[3.0, 3.0, 3.0]]
    assert b.grad.tolist() == [[6.0], [6.0]]
    assert c.grad.item() == 6.0


def test_gradients_have_the_type_of_their_tensor() -> None:
    a = av.tensor([1.0, 2.0], dtype=av.float64, requires_grad=True)
    b = av.tensor([1.0, 2.0], requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.dtype is av.float64 and b.grad.dtype is av.float32


def test_a_chain_of_100000_nodes_runs_backward_and_is_freed() -> None:
    x = av.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1.0
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_two_leaves_never_share_one_gradient_array() -> None:
    a, b = (av.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1.0, 1.0]


def test_accumulating_changes_the_same_grad_object() -> None:
    x = av.tensor(2.0, requires_grad=True)
    (x * 3).backward()
    first = x.grad
    (x * 4).backward()
    assert x.grad is first and first.item() == 7.0


def test_backward_frees_saved_tensors_unless_told_to_keep_them() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_a_node_without_saved_tensors_runs_twice() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x + 1
    y.backward()
    y.backward()
    assert x.grad.item() == 2.0


def test_a_change_in_place_of_a_saved_tensor_is_noticed() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y += 1
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor \[2\]\].* is at version 1"):
        y.sum().backward()


def test_in_place_on_a_leaf_that_requires_grad_is_refused() -> None:
    x = av.tensor(2.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x += 1
    with av.no_grad():
        x += 1
    assert x.item() == 3.0 and x.is_leaf and x._version == 1


def test_in_place_on_a_result_moves_its_history() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y *= 3
    assert y.grad_fn.name() == "MulBackward0" and y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_errors_say_what_pytorch_says() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        av.tensor(1.0).backward()
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[3\]\)"):
        (x * 2).backward(av.ones(3))
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 0 appears to not have been used in the graph"):
        av.autograd.grad((x * 2).sum(), av.tensor(1.0, requires_grad=True))


def test_grad_returns_gradients_and_touches_no_leaf() -> None:
    x = av.tensor(3.0, requires_grad=True)
    y = x * x
    (gx, gy) = av.autograd.grad(y * 2, [x, y])
    assert (gx.item(), gy.item(), x.grad) == (12.0, 2.0, None)


def test_grad_runs_only_what_leads_to_the_inputs() -> None:
    raises_if_run, _ = moody()
    x, z = av.tensor(3.0, requires_grad=True), av.tensor(2.0, requires_grad=True)
    (g,) = av.autograd.grad(x * raises_if_run.apply(z), x)
    assert g.item() == 4.0


def test_retain_grad_keeps_what_reaches_a_non_leaf() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    (y * y).backward()
    assert y.grad.item() == 12.0


def test_reading_grad_of_a_non_leaf_warns() -> None:
    y = av.tensor(2.0, requires_grad=True) * 3
    with pytest.warns(UserWarning, match="is not a leaf Tensor"):
        assert y.grad is None


def test_grad_mode_is_the_callers_own_at_every_step_and_after_an_error() -> None:
    function, _ = moody()
    x = av.tensor(2.0, requires_grad=True)
    for _ in steps_of(start(x * 2, None, None, False)):
        assert is_grad_enabled()
    with pytest.raises(ValueError, match="not today"):
        (function.apply(x) * 2).backward()
    assert is_grad_enabled()


def test_a_node_that_raises_can_be_tried_again() -> None:
    function, moods = moody()
    x = av.tensor(2.0, requires_grad=True)
    task = start(function.apply(x), None, None, False)
    with pytest.raises(ValueError, match="not today"):
        task.step()
    moods.clear()
    while task.ready:
        task.step()
    assert x.grad.item() == 2.0


def test_outputs_that_nobody_used_count_as_zero() -> None:
    x = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x.unbind()[1].backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_a_loop_over_constants_keeps_flat_memory() -> None:
    x = av.tensor(0.0)
    for _ in range(1000):
        x = x + 1
    depth, t = 0, x
    while t._made_by is not None and t._made_by.inputs:
        depth, t = depth + 1, t._made_by.inputs[0]
    assert depth <= 64


def test_a_recorded_op_takes_at_most_500_bytes() -> None:
    more = 0 if sys.version_info < (3, 14) else 100  # a tuple of Python 3.14 keeps its hash
    assert bytes_per_op() <= 500 + more


def test_of_several_results_some_that_nobody_used_take_the_plain_step() -> None:
    x = av.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    parts = x.split(1, dim=1)
    assert parts[0].grad_fn._extra is None
    (parts[0] * parts[2]).sum().backward()
    assert x.grad.tolist() == [[3.0, 0.0, 1.0]]
    assert [g is None for g in parts[0].grad_fn._passed[0]] == [False, True, False]


def test_truncated_backpropagation_through_time_keeps_few_steps() -> None:
    w, h = av.tensor(0.5, requires_grad=True), av.tensor(1.0)
    first = None
    for _ in range(20):
        h = (h.detach() * w).tanh()
        first = first or weakref.ref(h)
    gc.collect()
    assert first is not None and first() is None
    assert h.detach()._made_by.inputs == (h,)


def test_of_a_statement_in_a_loop_the_last_times_are_remembered() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * x
    y.retain_grad()
    for _ in range(20):
        y.backward(retain_graph=True)
    assert [e.kind for e in y._events] == ["retain_grad", *["backward"] * 8]


def test_infinities_do_not_warn() -> None:
    x = av.tensor(0.0, requires_grad=True)
    av.log(x).backward()
    assert np.isinf(x.grad.item())


def test_a_leaf_that_stops_requiring_grad_gets_none() -> None:
    a, b = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    c = a * b
    b.requires_grad_(False)
    c.backward()
    assert (a.grad.item(), b.grad) == (3.0, None)


def test_retain_grad_counts_once_when_a_node_is_tried_again() -> None:
    function, moods = moody()
    y = function.apply(av.tensor(2.0, requires_grad=True))
    y.retain_grad()
    task = start(y * 4, None, None, False)
    task.step()
    with pytest.raises(ValueError, match="not today"):
        task.step()
    moods.clear()
    task.step()
    assert y.grad.item() == 4.0


def test_retain_grad_follows_a_tensor_through_a_change_in_place() -> None:
    x = av.tensor(2.0, requires_grad=True)
    y = x * 3
    y.retain_grad()
    y *= 2
    y.backward()
    assert y.grad.item() == 1.0


def test_no_graph_is_a_reference_cycle() -> None:
    """Without the collector, a graph goes when its last tensor goes."""
    gc.disable()
    try:
        x = av.tensor([1.0, 2.0], requires_grad=True)
        y = (x.exp() * x).tanh().sum()
        tanh = y.grad_fn.next_functions[0][0]
        nodes = [weakref.ref(n) for n in (y.grad_fn, tanh, tanh.next_functions[0][0].next_functions[0][0])]
        del y, tanh
        assert [n() for n in nodes] == [None, None, None]
    finally:
        gc.enable()


def test_what_is_multiplied_by_itself_in_place_is_drawn_as_the_old_tensor() -> None:
    x = av.tensor(2.0, requires_grad=True)
    b = x * 3
    b.mul_(b)
    assert b._made_by is not None and all(t is not b for t in b._made_by.inputs)


def test_ops_that_a_rule_records_stand_at_the_users_line() -> None:
    x = av.tensor(2.0, requires_grad=True)
    (g,) = av.autograd.grad(x * x * x, x, create_graph=True)
    seen, todo = set(), [g.grad_fn]
    while todo:
        node = todo.pop()
        seen |= {node.at.code.co_filename} if node.at else set()
        todo += [after for after, _ in node.next_functions if after is not None]
    assert seen == {__file__}
