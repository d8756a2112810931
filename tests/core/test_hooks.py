"""Hooks and nested passes: what tests/core/semantics does not compare with PyTorch."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.twin.core.backward.engine import GraphTask
from autograd_viz.twin.core.backward.reentrant import Errand

from .semantics.reentrant import countdown


def test_hooks_run_in_the_order_of_the_note() -> None:
    x = av.tensor(3.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    said: list[str] = []
    leaf_node = av.autograd.graph.get_gradient_edge(x).node
    for register, name in (
        (leaf_node.register_hook, "after AccumulateGrad"),
        (x.register_post_accumulate_grad_hook, "accumulated"),
        (leaf_node.register_prehook, "before AccumulateGrad"),
        (x.register_hook, "leaf"),
        (y.grad_fn.register_hook, "after the node"),
        (y.grad_fn.register_prehook, "before the node"),
        (y.register_hook, "tensor"),
    ):
        register(lambda *grads, n=name: said.append(n))
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda g: (g[0] * 10,))
    y.backward()
    assert said == [
        *("tensor", "before the node", "after the node"),
        *("leaf", "before AccumulateGrad", "accumulated", "after AccumulateGrad"),
    ]
    assert y.grad.item() == 10.0  # retained after tensor hooks, before those of the node
    assert x.grad.item() == 200.0


def test_a_hook_of_a_node_may_take_a_gradient_away() -> None:
    x = av.tensor(1.0, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (None, None))
    y.backward()
    assert x.grad is None


def test_a_deep_pass_has_a_stack_of_its_own_whatever_the_recursion_limit() -> None:
    """Python's limit may be raised, the stack of C stays as it is."""
    threads: list[threading.Thread] = []
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    deep = countdown(av, lambda g: threads.append(threading.current_thread()) or g)
    try:
        deep.apply(av.tensor(200.0, requires_grad=True)).backward()
    finally:
        sys.setrecursionlimit(before)
    assert threads[0] is not threading.main_thread()


@pytest.mark.skipif(os.name == "nt" or signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="needs a Ctrl-C that arrives")
def test_ctrl_c_reaches_a_pass_on_another_thread() -> None:
    """The main thread waits for the pass, and is the one that hears of it."""
    ran: list[int] = []

    def press(grad: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        while not Errand.interrupted:  # until the main thread has heard it
            time.sleep(0.001)
        y = av.tensor(1.0, requires_grad=True) * 2
        y.register_hook(lambda g: ran.append(1))
        y.backward()
        return grad

    with pytest.raises(KeyboardInterrupt):
        countdown(av, press).apply(av.tensor(200.0, requires_grad=True)).backward()
    assert ran == [] and GraphTask.current is None and not Errand.interrupted
    y = av.tensor(1.0, requires_grad=True) * 2
    y.register_hook(lambda g: ran.append(2))
    y.backward()
    assert ran == [2]  # the next pass is not interrupted


def test_an_error_of_a_hook_is_told_in_anomaly_mode() -> None:
    with av.autograd.set_detect_anomaly(True):
        y = av.tensor(1.0, requires_grad=True) * 2  # the line
        y.register_hook(lambda g: 1 / 0)
        told = "(?s)Error detected in MulBackward0.*# the line"
        with pytest.warns(UserWarning, match=told), pytest.raises(ZeroDivisionError):
            y.backward()


def test_a_checkpoint_tells_the_lines_that_saved_in_both_runs() -> None:
    checkpoint = __import__("autograd_viz.twin.utils.checkpoint", fromlist=["checkpoint"])
    calls: list[int] = []

    def changes(x: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            return x.sin().exp()  # first
        return x.sin()  # second

    y = checkpoint.checkpoint(changes, av.ones(1, requires_grad=True), use_reentrant=False, debug=True)
    told = r"(?s)original forward:\n  0: .*# first\n.*recomputation:\n  0: .*# second"
    with pytest.raises(checkpoint.CheckpointError, match=told):
        y.backward()
