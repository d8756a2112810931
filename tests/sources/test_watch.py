"""The recorder that stays on: the pass that it keeps, its faults, its lines, and how it is switched."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.multiprocessing.reductions import StorageWeakRef  # noqa: E402
from torch.optim import optimizer  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.asking import history_of  # noqa: E402
from autograd_viz.sources.pytorch.reading import op_log  # noqa: E402
from autograd_viz.sources.pytorch.reading.op_log import op_of  # noqa: E402
from autograd_viz.sources.pytorch.recording import last_pass, mode  # noqa: E402

from ..torch_functions import with_backward  # noqa: E402
from .watched import mlp  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("watch_ends")]


# -- the last pass ------------------------------------------------------------------------------------------------------


def test_the_last_pass_is_kept_and_the_one_before_is_not() -> None:
    net = mlp()
    with av.watch() as watching:
        seen = []
        for _ in range(3):
            loss = net(torch.ones(4, 8)).exp().mean()
            loss.backward()
            assert watching.held > 0 and watching.last.root is loss
            seen.append(weakref.ref(loss))
        assert [r() is not None for r in seen] == [False, False, True]
        del loss
        assert seen[-1]() is not None
    assert watching.held == 0 and seen[-1]() is None


def test_nothing_is_kept_over_the_budget() -> None:
    w = torch.ones(1000, requires_grad=True)
    with av.watch(keep="10 KB") as watching:
        w.exp().sum().backward()
        assert 4000 <= watching.held <= 10_000
        w.exp().exp().exp().sum().backward()
        assert watching.held == 0 and watching.last.why_not == "budget"
        loss = w.exp().exp().exp().sum()
        loss.backward(retain_graph=True)
        assert watching.held == 0, "a graph that the user keeps is his"
        (loss + w.exp().sum()).backward()
        assert watching.held == 0 and watching.last.why_not == "budget", "older ops count too"


def test_ops_that_are_part_of_no_pass_do_not_count() -> None:
    w = torch.ones(1000, requires_grad=True)
    with av.watch(keep="10 KB") as watching:
        for _ in range(100):
            w.exp()
        w.exp().sum().backward()
        assert watching.held > 0


def test_a_held_graph_is_empty_after_the_next_pass_however_late_it_was_taken() -> None:
    """Once nobody has held anything for long, and once after that."""
    x = torch.ones(100, requires_grad=True)
    with av.watch() as watching:
        for k in range(2):
            for _ in range(last_pass.CAREFUL + 5):
                (x * 2).exp().sum().backward()
            assert watching.last._careful == 0
            y = (x * 2).exp()
            z = y.sum()
            inner = StorageWeakRef(y.untyped_storage())
            z.backward()
            del y
            (x * 2).exp().sum().backward()
            assert inner.expired(), k
            with pytest.raises(RuntimeError, match="backward through the graph a second time"):
                z.backward()
            del z


# -- faults, and how it is switched ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["_made", "_reads", "gave", "_noted", "_given", "_begins", "_kind_of"])
def test_a_fault_of_its_own_reaches_nobody(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(where)  # as most errors of PyTorch's

    x = torch.ones(3, requires_grad=True)
    with av.watch() as watching:
        for owner in (mode.WatchMode, last_pass, watching.log, watching.last):
            if where in dir(owner) and where != "_kind_of":
                monkeypatch.setattr(owner, where, broken)
        if where == "_kind_of":
            monkeypatch.setattr(mode.kinds, "kind_of", broken)
            watching._mode._kinds.clear()
        y = x * 2
        y.add_(1)
        (a, b) = y.chunk(2)
        (a.sum() + b.item()).backward()
        assert x.grad is not None and x.grad.tolist() == [2.0, 2.0, 0.0]
        assert {str(f) for f in watching.faults} == {where}
        assert all(f.__traceback__ is None for f in watching.faults), "frames hold tensors"


@pytest.mark.parametrize("name", ["begins", "let_go", "_empty", "failed"])
def test_a_fault_around_a_pass_reaches_nobody(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError(name)

    x = torch.ones(3, requires_grad=True)
    watching = av.watch()
    monkeypatch.setattr(watching.last, name, broken)
    for _ in range(2):
        y = x.exp()
        y.sum().backward()
    with pytest.raises(RuntimeError, match="scalar outputs"):
        y.backward()
    watching.close()
    assert {str(f) for f in watching.faults} == {name}


def test_it_goes_on_after_a_step_that_raised() -> None:
    net = mlp()
    descent = torch.optim.SGD(net.parameters(), 0.1)

    def bad(*_: Any) -> None:
        raise KeyboardInterrupt

    hook = descent.register_step_pre_hook(bad)
    with av.watch() as watching:
        net(torch.ones(1, 8)).sum().backward()
        with pytest.raises(KeyboardInterrupt):
            descent.step()
        hook.remove()
        loss = net(torch.ones(1, 8)).sum()
        assert op_of(loss, watching.log) is not None and torch._C._len_torch_function_stack() == 1
        loss.backward()
        descent.step()
        assert len(watching.log.passes) == 2 and len(watching.log.steps) == 2
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_a_second_call_gives_the_same_handle() -> None:
    one = av.watch()
    two = av.watch(keep="1 MB")
    assert one is two and one.keep == 1_000_000 and "0 passes seen, 0 bytes held" in repr(one)
    one.close()
    one.close()
    assert repr(one) == "<watch: closed>" and av.watch() is not one


class Other(TorchFunctionMode):
    """A mode of the user's."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("order", ["watch first", "watch inside", "closed inside", "device"])
def test_other_modes_come_and_go_in_any_order(order: str) -> None:
    def stack() -> list[str]:
        return [type(torch._C._get_function_stack_at(k)).__name__ for k in range(torch._C._len_torch_function_stack())]

    if order == "watch inside":
        with Other():
            watching = av.watch()
        assert stack() == ["WatchMode"]
        watching.close()
    elif order == "device":
        with torch.device("cpu"):
            watching = av.watch()
            assert stack() == ["WatchMode", "DeviceContext"]
        assert stack() == ["WatchMode"]
        torch.set_default_device("meta")
        assert stack() == ["DeviceContext", "WatchMode"] and torch.ones(1).is_meta
        watching.close()
        watching = av.watch()
        assert stack() == ["DeviceContext", "WatchMode"]
        watching.close()
        torch.set_default_device(None)
    else:
        watching = av.watch()
        with Other():
            assert stack() == ["WatchMode", "Other"]
            if order == "closed inside":
                watching.close()
            assert stack()[-1] == "Other"
        watching.close()
    assert stack() == []


def test_what_it_replaces_is_put_back() -> None:
    names: list[tuple[Any, str]] = [
        (torch.overrides, "has_torch_function"), (torch.utils, "swap_tensors"), (torch.autograd, "_engine_run_backward"),
        (nn.Parameter, "__new__"),
    ]  # fmt: skip
    before = [getattr(owner, name) for owner, name in names]
    with av.watch():
        assert all(getattr(owner, name) != b for (owner, name), b in zip(names, before, strict=True))
    assert [getattr(owner, name) for owner, name in names] == before
    for hooks in ("_global_parameter_registration_hooks", "_global_module_registration_hooks"):
        assert not getattr(torch.nn.modules.module, hooks)
    assert not optimizer._global_optimizer_pre_hooks


# -- lines --------------------------------------------------------------------------------------------------------------


def line_of(tensor: Any, watching: Any) -> tuple[str, int]:
    op = op_of(tensor, watching.log)
    assert op is not None and op.line is not None
    code, instruction = op.line
    positions = list(code.co_positions())[instruction // 2]
    return code.co_filename, positions[0] or 0


def test_an_optimizer_that_is_gone_is_known_but_for_its_rate_however_many_there_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op_log, "MOST", 8)
    layer = nn.Linear(3, 1)

    def fit(count: int) -> None:
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        for _ in range(count):
            optimizer.zero_grad()
            layer(torch.ones(3)).sum().backward()
            optimizer.step()

    with av.watch():
        for _ in range(12):
            fit(1)
        fit(2)
        (found,) = history_of(layer.weight).optimizers(layer.weight)
    assert (found.kind, found.holds, found.momentum, len(found.steps)) == ("SGD", True, True, 2)
    assert found.rate is found.began is None, "a schedule may have moved it since"


def test_closed_in_a_pass_that_raises_it_has_freed_what_ran() -> None:
    watch, w = av.watch(), torch.ones(3, requires_grad=True)

    def closes(ctx: Any, g: object) -> None:
        watch.close()
        raise ValueError("of the user")

    h = with_backward(closes).apply(w)
    y = (h * h).sum()
    with pytest.raises(ValueError, match="of the user"):
        y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    torch.nn.Linear(3, 1)(w)


@pytest.mark.parametrize("place", ["a hook of a pass", "another thread"])
def test_closed_from_elsewhere_it_notes_nothing_and_leaves_when_the_next_module_runs(place: str) -> None:
    layer, w = torch.nn.Linear(3, 1), torch.ones(3, requires_grad=True)
    watch = av.watch()
    y = layer(w * 2).sum()
    if place == "another thread":
        thread = threading.Thread(target=watch.close)
        thread.start()
        thread.join()
    else:
        y.register_hook(lambda g: watch.close())
    y.backward()
    seen = watch.log.now
    (w * 2).sum().backward()
    assert watch.log.now == seen
    layer(w)
    assert torch._C._len_torch_function_stack() == 0
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_the_line_is_the_users() -> None:
    net, x = mlp(), torch.ones(2, 8)
    add_up = lambda v: v.sum()  # noqa: E731
    with av.watch() as watching:
        a = net(x)
        b = add_up(a)
        here = sys._getframe().f_lineno
        spaces: dict[str, Any] = {"a": a}
        exec(compile("\n\nc = a * 2", "<ipython-input-3-abc>", "exec"), spaces)
        exec("d = a * 3", spaces)
        assert line_of(a, watching) == (__file__, here - 2) and line_of(b, watching) == (__file__, here - 4)
        assert line_of(spaces["c"], watching) == ("<ipython-input-3-abc>", 3)
        assert line_of(spaces["d"], watching) == (__file__, here + 3)


def test_a_graph_that_was_recorded_and_is_emptied_can_be_drawn() -> None:
    """The number is a tensor to its node, and an int to a recording."""
    w = torch.ones(2, requires_grad=True)
    with av.watch():
        with av.record():
            y = w * 3
            y.sum().backward()
            (w * 2).sum().backward()
        assert av.show(y).svg
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
