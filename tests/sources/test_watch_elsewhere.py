"""The recorder that stays on, in other processes and threads, and in notebooks."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402

from .. import fresh  # noqa: E402
from .watched import training  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("watch_ends")]


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
        found.append(torch.cat([p.detach().flatten() for p in training(3)]))
        found.append(torch._C._len_torch_function_stack())

    train()
    with av.watch() as watching:
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        assert torch.equal(found[0], found[2]) and found[3] == 0
        assert watching.faults == () and not watching.log.passes
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
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    call = [*fresh.python(*fresh.COMPILER), "-c", RANK]
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

NAN = '''
import torch, autograd_viz as av
t, q = torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.5], requires_grad=True)
loss = t @ torch.digamma(t / q)
loss.backward()
print(av.explain(q, loss))
'''
assert "%" not in expect(NAN, "the loss itself is nan", "`with av.record():`")
expect("%load_ext autograd_viz")
expect(NAN, "the loss itself is nan", "a cell that begins with %%record")
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
assert "%" not in expect(NAN, "`with av.record():`")
expect("from IPython.core.magic import register_cell_magic\\n@register_cell_magic\\ndef record(line, cell):\\n    pass")
assert "%" not in expect(NAN, "`with av.record():`")  # another library's
expect("1/0", "ZeroDivisionError")
print("fine")
"""


def test_a_notebook_is_watched_and_its_errors_are_shown_once() -> None:
    done = subprocess.run([*fresh.python(*fresh.COMPILER), "-c", SHELL], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("fine"), done.stdout + done.stderr
