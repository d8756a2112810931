"""The twin under PyTorch's name: `import torch` means it inside of `as_torch()`, and nothing of it is left after."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

import pytest

import autograd_viz as av

from . import fresh

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import nn as same, optim
from torch.nn.modules.linear import Linear
from torch.utils.data import DataLoader, TensorDataset
model = nn.Sequential(Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
opt = optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2):
    loss = F.mse_loss(model(x), torch.zeros(2, 1))
"""


def run(code: str, python: Sequence[str] = (sys.executable,)) -> str:
    """What a new process prints: PyTorch is not imported there."""
    return subprocess.run([*python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_program_that_imports_torch_runs_on_the_twin_and_the_verbs_see_it() -> None:
    """One process for all verbs: each costs its start."""
    verbs = """
import autograd_viz as av
run = av.watch(model)
print(av.show(loss)); av.step(loss); av.map(loss)
loss.backward(); opt.step()
print(type(run).__name__, av.explain(model[0].weight))
for verb in (av.watch, av.record):
    try: verb()
    except av.MissingLibraryError as error: print(error)
"""
    told = run("from autograd_viz.twin import as_torch; as_torch()\n" + PROGRAM + verbs)
    assert "backward nodes" in told and "watch() needs PyTorch" in told and "record() needs PyTorch" in told


def test_it_ends_with_the_block_also_when_blocks_are_nested_and_one_raises() -> None:
    code = f"""
import sys
from autograd_viz.twin import as_torch
before = list(sys.meta_path)
def left(): return sorted(n for n in sys.modules if n.partition(".")[0] == "torch")
try:
    with as_torch():
        with as_torch(): import torch
        exec({PROGRAM!r})
        assert left()
        raise KeyError
except KeyError: pass
print(left(), sys.meta_path == before)
"""
    assert run(code) == "[] True"


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
def test_it_refuses_where_pytorch_is_and_pytorch_comes_back_after_it() -> None:
    code = """
import autograd_viz as av
with av.twin.as_torch():
    import torch
    assert torch is av.twin
    x = torch.ones(2, requires_grad=True)
import torch
assert torch is not av.twin and torch.__version__
try: av.twin.as_torch()
except ImportError as error: print(error)
print(av.show((x * 2).sum()), av.show(torch.ones(2, requires_grad=True) * 2))
"""
    told = run(code)
    assert told.startswith("as_torch() was called after PyTorch was imported") and told.count("<Figure") == 2


def loaded(code: str, python: Sequence[str] = (sys.executable,)) -> set[str]:
    """The files of ours that a program loads."""
    return set(
        run(
            f"{code}\nimport sys; print(*(m for m in sys.modules if m.startswith('autograd_viz')), len(sys.modules))", python
        ).split()
    )


PARTS = ("nn", "optim", "distributions", "autograd", "amp", "utils", "testing", "namespaces", "other_paths")


def test_what_is_not_named_is_not_loaded() -> None:
    """A tensor needs the core: ours alone are counted, as Python versions load more or less of their own."""
    first, tensor = loaded("import autograd_viz as av"), loaded("import autograd_viz as av; av.tensor(1.)")
    assert max(int(n) for n in first if n.isdigit()) <= 100
    assert len(tensor) <= 200
    for part in PARTS:
        assert f"autograd_viz.twin.{part}" not in tensor | loaded("import autograd_viz.twin.core.op.table")
    assert "autograd_viz.twin.nn" not in loaded("import autograd_viz as av; av.linalg.norm(av.ones(2))")


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
def test_a_figure_of_pytorch_loads_no_layers_of_the_twin() -> None:
    there = loaded("import torch, autograd_viz as av; av.show(torch.ones(2, requires_grad=True).exp().sum())", fresh.python())
    assert not there & {f"autograd_viz.twin.{part}" for part in (*PARTS, "core.ops_more.counting")}
    assert not {m for m in there if m.startswith(("autograd_viz.sources.twin", "autograd_viz.sources.shared.stepping"))}
    assert not {m for m in there if m.startswith(NOT_FOR_A_FIGURE)}
    assert len(there) <= 275


NOT_FOR_A_FIGURE = tuple(f"autograd_viz.{room}." for room in ("answers.causes", "pictures.maps", "stepper", "widget"))


def test_the_first_figure_loads_what_it_draws_with() -> None:
    there = loaded("import autograd_viz as av; av.show(av.ones(2, requires_grad=True).exp().sum())._repr_mimebundle_()")
    assert not {m for m in there if m.startswith(NOT_FOR_A_FIGURE)}
    assert len(there) <= 250
    assert "autograd_viz.twin" not in loaded("from autograd_viz import words")


def test_a_pickle_by_the_paths_of_old_is_read() -> None:
    model = av.nn.Linear(2, 1)
    old = pickle.dumps(model, protocol=0).replace(b"autograd_viz.twin.", b"autograd_viz.")
    assert b"cautograd_viz.nn.linear\n" in old
    read = pickle.loads(old)
    assert type(read) is av.nn.Linear and av.equal(read.weight, model.weight)


@pytest.mark.parametrize(
    "path", ["nn.modules.linear", "nn.utils.clip_grad", "optim.adamw", "distributions.normal", "cuda.amp", "func"]
)
def test_a_path_without_a_file_is_an_attribute_too(path: str) -> None:
    assert run(f"import autograd_viz as av; print(av.{path}.__name__)").startswith("autograd_viz.twin.")
    assert run(f"import autograd_viz.{path} as m; print(m.__name__)").startswith("autograd_viz.twin.")
