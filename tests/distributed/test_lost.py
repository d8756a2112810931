"""A rank that is watched outlives rank 0, which has the store of the job."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from .. import fresh

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

PROGRAM = """
import os, sys
import torch, torch.distributed as dist
import autograd_viz as av
rank, port = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
dist.barrier()
if rank == 0:
    os._exit(0)
sys.stdin.readline()
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
run = av.watch(model)
for _ in range(200):
    model(torch.ones(2, 2)).pow(2).mean().backward()
    optimizer.step()
run.close()
print(run.history.steps, run._watch.faults)
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="no torch.distributed")
def test_a_rank_without_rank_0_keeps_its_run_and_tries_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    first, second = (
        subprocess.Popen(
            [*fresh.python(*fresh.COMPILER), "-c", PROGRAM, rank, port],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in "01"
    )
    try:
        first.communicate(timeout=60)
        out, err = second.communicate("go on\n", timeout=60)
    finally:
        for process in (first, second):
            process.kill()
    assert (second.returncode, out) == (0, "200 []\n"), err
    assert err.count("sendBytes failed") == 1
