"""What a recorded op costs, as far as it can be counted: calls and objects. `python -m benchmarks.recorder` takes the time."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402
from autograd_viz.twin.core.base.provenance import PACKAGE  # noqa: E402

from .. import fresh  # noqa: E402
from ..torch_steppers import ops_of  # noqa: E402

pytestmark = pytest.mark.torch
OPS = 200


def chain(x: Any) -> Any:
    """OPS ops, one after the other."""
    z = x
    for _ in range(OPS):
        z = z * x
    return z


def calls_of_ours(run: Callable[[], Any]) -> int:
    """How many calls of Python functions of this package a run makes."""
    found = 0

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal found
        found += event == "call" and frame.f_code.co_filename.startswith(PACKAGE)

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def test_an_op_makes_few_calls() -> None:
    x = torch.ones(3, requires_grad=True)
    with av.record():
        chain(x)  # what is read once is read
        assert calls_of_ours(lambda: chain(x)) / OPS < 36


def test_a_step_of_an_optimizer_makes_fewer() -> None:
    p = torch.nn.Parameter(torch.ones(3))

    def changes() -> None:
        with torch.no_grad():
            for _ in range(OPS):
                p.mul_(1.5)

    with av.record():
        changes()
        assert calls_of_ours(changes) / OPS < 15


def test_an_op_leaves_few_objects_to_the_garbage_collector() -> None:
    x = torch.ones(3, requires_grad=True)
    with av.record():
        chain(x)
        x + x  # the op before it holds that graph no more
        gc.collect()
        before = len(gc.get_objects())
        kept = chain(x)
        gc.collect()
        assert (len(gc.get_objects()) - before) / OPS < 9
    assert kept.grad_fn is not None


def test_a_tensor_that_is_changed_in_place_again_and_again_is_found_at_once() -> None:
    """Its weak references are searched for each op."""
    x = torch.ones(3, requires_grad=True)
    with av.record():
        z = x * 1
        for _ in range(OPS):
            z.mul_(0.5)
    assert len(weakref.getweakrefs(z)) < 5 and len(ops_of(z)) == OPS + 1


def test_the_collector_comes_after_as_many_ops_as_before() -> None:
    usual = gc.get_threshold()
    outer, inner = av.record(), av.record()
    with outer:
        seldom = gc.get_threshold()
        with inner:
            assert gc.get_threshold() == seldom == (8 * usual[0], *usual[1:])
        assert gc.get_threshold() == seldom
    assert gc.get_threshold() == usual
    try:
        with outer:
            gc.set_threshold(1234)
        assert gc.get_threshold()[0] == 1234, "what the user sets stays"
    finally:
        gc.set_threshold(*usual)


def test_of_several_cuts_of_a_freed_graph_the_last_alone_keeps_it() -> None:
    w = torch.ones(3, requires_grad=True)
    with av.record():
        h = (w * 2).exp()
        h.sum().backward()
        cuts = [h.detach() for _ in range(3)]
    assert [len(ops_of(cut)) for cut in cuts] == [0, 0, 3]


def test_a_recording_loads_no_compiler() -> None:
    code = "import sys, torch, autograd_viz as av\nwith av.record(): torch.ones(3) * 2\nprint('torch._dynamo' in sys.modules)"
    if not hasattr(torch._C._dynamo.eval_frame, "set_code_exec_strategy"):
        pytest.skip("this PyTorch wraps every mode")
    ran = subprocess.run([*fresh.python(), "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def frames_compiled(around: Any) -> int:
    """How many frames PyTorch's compiler looks at, of a function that it cannot compile as a whole."""
    import torch._dynamo as dynamo

    def run(x: Any) -> Any:
        y = x.sin()
        dynamo.graph_break()
        with contextlib.suppress(ValueError):
            y = y * y
            dynamo.graph_break()
        return y.sum()

    dynamo.reset()
    dynamo.utils.counters.clear()
    with around():
        torch.compile(run, backend="eager")(torch.ones(3))
    return int(dynamo.utils.counters["frames"]["total"])


def test_the_compiler_compiles_nothing_of_ours() -> None:  # over a second: the compiler is loaded
    assert frames_compiled(av.record) == frames_compiled(contextlib.nullcontext)
