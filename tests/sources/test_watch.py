"""The recorder that stays on: what it holds, for how long, and how it is switched."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.multiprocessing.reductions import StorageWeakRef  # noqa: E402
from torch.optim import optimizer  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch import watch_mode, watch_ops, watch_pass  # noqa: E402
from autograd_viz.sources.pytorch.watch_log import Event, op_of  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _off() -> Iterator[None]:
    yield
    av.watch().close()
    assert torch._C._len_torch_function_stack() == 0


# -- memory -------------------------------------------------------------------------------------------------------------


class Storages(TorchDispatchMode):
    """Weak references to the memory of every result, also of those that only C++ holds."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Any, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for t in result if isinstance(result, tuple | list) else [result]:
            if isinstance(t, torch.Tensor):
                self.made.append((StorageWeakRef(t.untyped_storage()), t.untyped_storage().nbytes()))
        return result

    def alive(self) -> int:
        """Bytes."""
        return sum({ref.cdata: size for ref, size in self.made if not ref.expired()}.values())


LOOPS: dict[str, Callable[[int], Any]] = {}


def loop(run: Callable[[int], Any]) -> Callable[[int], Any]:
    LOOPS[run.__name__] = run
    return run


def mlp() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))


@loop
def training(n: int) -> Any:
    net, x = mlp(), torch.ones(4, 8)
    descent = torch.optim.Adam(net.parameters())
    for _ in range(n):
        descent.zero_grad()
        net(x).square().mean().backward()
        descent.step()
    return net


@loop
def losses_in_a_list(n: int) -> Any:
    net, x, losses = mlp(), torch.ones(4, 8), []
    for _ in range(n):
        loss = net(x).square().mean()
        loss.backward()
        losses.append(loss)
    return losses


@loop
def some_outputs_in_a_list(n: int) -> Any:
    net, x, outputs = mlp(), torch.ones(4, 8), []
    for k in range(n):
        y = net(x).exp()
        y.mean().backward()
        if k % 7 == 0:
            outputs.append(y)
    return outputs


@loop
def packed_tensors_in_a_list(n: int) -> Any:
    net, x, outputs = mlp(), torch.ones(4, 8), []
    for _ in range(n):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            y = net(x).exp()
        y.mean().backward()
        outputs.append(y)
    return outputs


@loop
def slices_in_a_list(n: int) -> Any:
    net, x, outputs = mlp(), torch.ones(4, 8), []
    for _ in range(n):
        y = net(x) * 1
        y[:2].mul_(torch.ones(2, 1).exp())
        y.mean().backward()
        outputs.append(y)
    return outputs


@loop
def losses_added_up(n: int) -> Any:
    net, x, total = mlp(), torch.ones(4, 8), 0.0
    for _ in range(n):
        loss = net(x).square().mean()
        loss.backward()
        total += loss.item()
    return total


@loop
def gan(n: int) -> Any:
    made, judge, z = mlp(), nn.Linear(1, 1), torch.ones(4, 8)
    for _ in range(n):
        fake = made(z)
        (judge(fake.detach()).exp().mean() - judge(torch.ones(5, 1)).mean()).backward()
        judge(fake).exp().mean().backward()
    return made


@loop
def carried_state(n: int) -> Any:
    cell, h = nn.RNNCell(8, 8), torch.zeros(1, 8)
    for _ in range(n):
        h = cell(torch.ones(1, 8), h.detach())
        h.square().sum().backward()
    return h


@loop
def inference_with_grad_on(n: int) -> Any:
    net, seen, h = mlp(), [], torch.zeros(4, 8)
    for k in range(n):
        h = net[0](h.detach() + 1)
        y = net(torch.ones(4, 8, requires_grad=True) * h)
        if k % 100 == 0:
            seen.append(y.mean().item())
    return seen


@loop
def evaluation(n: int) -> Any:
    net, best = mlp(), torch.zeros(())
    with torch.no_grad():
        for _ in range(n):
            y = net(torch.ones(4, 8))
            best = torch.maximum(best, (y > 0).float().mean())
    return best


@loop
def attacks(n: int) -> Any:
    net, x = mlp(), torch.ones(4, 8)
    for _ in range(n):
        x = x.detach().requires_grad_()
        (g,) = torch.autograd.grad(net(x).square().mean(), x)
        x = x + g.sign()
    return x


@loop
def errors_in_passes(n: int) -> Any:
    net, x = mlp(), torch.ones(4, 8)
    for _ in range(n):
        y = net(x).exp()
        with torch.no_grad():
            y.mul_(2)
        with pytest.raises(RuntimeError, match="inplace"):
            y.mean().backward()
    return net


STUCK = ("packed_tensors_in_a_list", "slices_in_a_list")  # nobody can let go what their nodes hold


def _objects() -> int:
    kinds = (watch_ops.OpRecord, watch_ops.Page, watch_ops.Leaf, Event)
    return sum(issubclass(type(o), kinds) for o in gc.get_objects())


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("keep", ["256 MB", 0])
def test_memory_is_that_of_a_plain_run_and_of_one_pass(name: str, keep: int | str) -> None:
    """The collector is off: nothing waits for it."""
    run, alive = LOOPS[name], []
    run(2)  # what is made once and for all
    gc.collect()
    gc.disable()
    try:
        for is_watched in (False, True):
            with Storages() as storages:
                watching = av.watch(keep) if is_watched else None
                held = run(40)
            alive.append(storages.alive())
            if watching is not None:
                kept = watching.held
                assert watching.faults == ()
                watching.close()
                alive.append(storages.alive())
            del held
        plain, watched, closed = alive
        first = 500 if name in STUCK else 0  # the graph by which it was seen that somebody holds them
        assert plain <= closed <= plain + first
        assert watched <= plain + (kept + first + 3000 if keep else 0)
    finally:
        gc.enable()


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_noted_is_bounded(name: str) -> None:
    """Some hundred iterations."""
    with av.watch() as watching:
        LOOPS[name](100)
        before = _objects(), len(watching.log.made._marks)
        for _ in range(2):
            held = LOOPS[name](150)
        if "list" in name:  # the user holds 150 graphs, and each of them a page
            del held
            LOOPS["training"](10 * watch_ops.PASSES)
            LOOPS["training"](100)
        after = _objects(), len(watching.log.made._marks)
        assert len(watching.log._pages) <= (watch_ops.SPAN >> watch_ops.BITS) + 10
    assert after[0] - before[0] < 2000 and after[1] <= before[1] + 20


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
            for _ in range(watch_pass.CAREFUL + 5):
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
        for owner in (watch_mode.WatchMode, watching.log, watching.last):
            if where in dir(owner) and where != "_kind_of":
                monkeypatch.setattr(owner, where, broken)
        if where == "_kind_of":
            monkeypatch.setattr(watch_mode.kinds, "kind_of", broken)
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


# -- other processes and threads ----------------------------------------------------------------------------------------


def test_workers_of_a_data_loader_are_left_alone() -> None:
    """They are forked while it is on."""
    data = torch.utils.data.TensorDataset(torch.arange(8.0).reshape(8, 1))
    with av.watch() as watching:
        loader = torch.utils.data.DataLoader(data, 2, num_workers=2, multiprocessing_context="fork")
        w = torch.ones(1, requires_grad=True)
        for (x,) in loader:
            (w * x).sum().backward()
        assert w.grad is not None and w.grad.item() == 28.0
        assert watching.faults == () and len(watching.log.passes) == 4


def test_other_threads_are_not_watched_and_run_as_they_would() -> None:
    found: list[Any] = []

    def train() -> None:
        net = mlp()
        descent = torch.optim.SGD(net.parameters(), 0.1)
        net(torch.ones(1, 8)).sum().backward()
        descent.step()
        found.append(torch._C._len_torch_function_stack())

    with av.watch() as watching:
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        assert found == [0] and watching.faults == () and not watching.log.passes
        assert torch._C._len_torch_function_stack() == 1


RANK = """
import sys, datetime, torch, torch.distributed as dist, autograd_viz as av
from torch.nn.parallel import DistributedDataParallel
rank, folder = int(sys.argv[1]), sys.argv[2]
patience = datetime.timedelta(seconds=30)
dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2, timeout=patience)
found = []
for is_watched in (False, True):
    watching = av.watch() if is_watched else None
    torch.manual_seed(0)
    net = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)))
    optimizer = torch.optim.Adam(net.parameters())
    torch.manual_seed(rank)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.randn(5, 3)).square().mean().backward()
        optimizer.step()
    found.append([p.tolist() for p in net.parameters()])
    if watching is not None:
        assert watching.faults == () and watching.held > 0, watching.faults
        watching.close()
print(found[0] == found[1])
dist.destroy_process_group()
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch was built without it")
def test_two_ranks_train_as_they_would(tmp_path: Path) -> None:
    """Two processes import PyTorch: several seconds."""
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    call = [sys.executable, "-c", RANK]
    ranks = [
        subprocess.Popen([*call, str(k), str(tmp_path)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for k in range(2)
    ]
    try:
        said = [rank.communicate(timeout=60)[0].decode() for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    assert all("True" in text.split() for text in said), said


# -- notebooks ----------------------------------------------------------------------------------------------------------

SHELL = """
import contextlib, io
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
def run(cell):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        shell.run_cell(cell, store_history=True)
    return out.getvalue()

def expect(cell, *parts):
    said = run(cell)
    assert all(part in said for part in parts), (cell, said)
    return said

expect("%load_ext autograd_viz")
expect("%load_ext autograd_viz")
expect("import torch, autograd_viz as av\\nw = torch.ones(3).requires_grad_()\\nw.detach().sum().backward()", "RuntimeError")
expect("print(av.explain())", "detach() detached it from the graph")
said = expect("%%record\\nv = w.detach().sum()\\nv.backward()", "RuntimeError")
assert said.count("Traceback") == 1, said
expect("print(av.explain())", "detach() detached it from the graph")
said = expect("%%record\\n%%record\\n1/0", "ZeroDivisionError")
assert said.count("Traceback") == 1, said
expect("%%record\\nq = (w * 3).sum()\\nq", "grad_fn=<SumBackward0>")
expect("o = torch.optim.SGD([w], 0.1)\\no.register_step_pre_hook(lambda *_: 1/0)\\nq.backward()\\no.step()", "ZeroDivision")
expect("print('modes:', torch._C._len_torch_function_stack())", "modes: 1")
expect("%reload_ext autograd_viz")
expect("print(av.watch())", "0 passes seen")
expect("%unload_ext autograd_viz")
expect("print('modes:', torch._C._len_torch_function_stack())", "modes: 0")
expect("%%record\\n1", "`%%record` not found")
expect("1/0", "ZeroDivisionError")
print("fine")
"""


def test_a_notebook_is_watched_and_its_errors_are_shown_once() -> None:
    """A shell of its own imports PyTorch: several seconds."""
    done = subprocess.run([sys.executable, "-c", SHELL], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("fine"), done.stdout + done.stderr
