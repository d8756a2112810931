"""Names that PyTorch 2.2, the lowest release that is supported, lacks: one file asks for them, and finds others there."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import autograd_viz  # noqa: E402
from autograd_viz.sources.pytorch.reading.older import set_versions  # noqa: E402

from .. import fresh  # noqa: E402

pytestmark = pytest.mark.torch
ROOM = Path(autograd_viz.__file__).parent / "sources" / "pytorch"
LATER = {"GradScaler", "is_dynamo_compiling", "swap_tensors", "_unsafe_set_version_counter"}  # or with other arguments
AS_BEFORE = """
import torch
import autograd_viz as av


def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    if torch.overrides.has_torch_function_unary(self):
        return torch.overrides.handle_torch_function(
            torch.Tensor.backward, (self,), self, gradient=gradient, retain_graph=retain_graph,
            create_graph=create_graph, inputs=inputs)
    engine = torch.autograd.Variable._execution_engine
    engine.run_backward((self,), (torch.ones_like(self),), bool(retain_graph), create_graph, (),
                        allow_unreachable=True, accumulate_grad=True)

torch.Tensor.backward = backward
del torch.autograd._engine_run_backward, torch.compiler.is_dynamo_compiling, torch.amp.GradScaler, torch.utils.swap_tensors
recorder, model = av.watch(), torch.nn.Linear(2, 1)
run = av.watch(model)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(2):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).pow(2).sum().backward()
    optimizer.step()
print(av.explain(model.weight))
run.close()
print(run, len(recorder.log.passes), recorder.faults, run._watch.faults)
grad = model.weight.grad.clone()
with av.record(model):
    loss = model(torch.ones(1, 2)).pow(2).sum()
    loss.backward(retain_graph=True)
model.weight.grad = None
stepper = av.step(loss)
stepper.finish()
print(model.weight.grad.shape, torch.autograd._engine_run_backward.__name__)
recorder.close()
print(torch.autograd._engine_run_backward.__module__)
"""


def test_only_one_file_asks_for_names_that_the_lowest_release_lacks() -> None:
    for path in ROOM.glob("*.py"):
        tree = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        named = {a.name for n in tree if isinstance(n, ast.ImportFrom) and not n.level for a in n.names}
        read = {n.attr for n in tree if isinstance(n, ast.Attribute) and ast.unparse(n.value).startswith("torch")}
        stored = {"swap_tensors"} if path.name == "watch.py" else set()  # it replaces the one that is there
        assert path.name == "older.py" or not (named | read - stored) & LATER, path.name


def test_a_watch_runs_where_they_are_missing() -> None:
    """In a process of its own."""
    done = subprocess.run([*fresh.python(*fresh.COMPILER), "-c", AS_BEFORE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *answer, run, stepped, left = done.stdout.splitlines()
    assert "Nothing stands out" in "".join(answer)
    assert run == "<Run of Linear: 2 steps, closed> 2 () []"
    assert stepped.startswith("torch.Size([1, 2])")
    assert left == "autograd_viz.sources.pytorch.reading.older"


def test_versions_are_set_one_at_a_time_where_pytorch_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all = torch._C._autograd._unsafe_set_version_counter

    def set_one(tensor: torch.Tensor, version: int) -> None:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError("incompatible function arguments")
        set_all((tensor,), (version,))

    a, b = torch.ones(2), torch.ones(2)
    for set_them in (set_all, set_one):
        monkeypatch.setattr(torch._C._autograd, "_unsafe_set_version_counter", set_them)
        set_versions({a: 3, b: 5})
        assert (a._version, b._version) == (3, 5)
        set_versions({a: 0, b: 0})
