"""Extra state, types and copies of modules beside PyTorch's."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def counting(m: Any, reads: bool = True, writes: bool = True) -> Any:
    """A module with extra state in a module: it writes it, reads it, or both."""

    class Counting(m.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = m.nn.Linear(1, 1, bias=False)
            self.seen = {"calls": 0}

        if writes:

            def get_extra_state(self) -> Any:
                return dict(self.seen)

        if reads:

            def set_extra_state(self, state: Any) -> None:
                self.seen = dict(state)

    return m.nn.Sequential(Counting(), m.nn.ReLU())


def loaded(m: Any, reads: bool, writes: bool, given: dict[str, Any], strict: bool) -> Any:
    model, other = counting(m, reads, writes), counting(m, reads, writes)
    model[0].seen["calls"] = 7
    state = {**model.state_dict(), **given}
    state = {name: value for name, value in state.items() if value is not None}
    try:
        result = repr(other.load_state_dict(state, strict=strict))
    except RuntimeError as error:
        result = str(error)
    return list(state), result, other[0].seen


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("given", [{}, {"0._extra_state": None}, {"0._extra_state": {"calls": 3}}, {"1._extra_state": 3}])
@pytest.mark.parametrize(("reads", "writes"), [(True, True), (True, False), (False, True), (False, False)])
def test_extra_state_is_saved_and_loaded_as_in_pytorch(reads: bool, writes: bool, given: Any, strict: bool) -> None:
    assert loaded(av, reads, writes, given, strict) == loaded(torch, reads, writes, given, strict)


def test_a_state_goes_into_an_open_file_and_out_of_it() -> None:
    model, file = av.nn.Linear(2, 1), io.BytesIO()
    av.save(model.state_dict(), file)
    file.seek(0)
    assert {name: t.tolist() for name, t in av.load(file).items()} == {n: p.tolist() for n, p in model.named_parameters()}
    with pytest.raises(TypeError, match=r"takes a path or a file opened for reading, got int \(3\)"):
        av.load(3)


def test_extra_state_stays_in_a_file(tmp_path: Any) -> None:
    model, other = counting(av), counting(av)
    model[0].seen["calls"] = 7
    av.save(model.state_dict(), tmp_path / "model.pt")
    other.load_state_dict(av.load(tmp_path / "model.pt"))
    assert other[0].seen == {"calls": 7}


def test_a_copied_parameter_has_no_gradient_and_a_copied_tensor_has_one() -> None:
    found = []
    for m in (av, torch):
        layer, x = m.nn.Linear(2, 1), m.ones(2, requires_grad=True)
        layer(x).backward()
        twins = copy.deepcopy({"p": layer.weight, "x": x, "layer": layer, "again": layer.weight})
        grads = [twins["p"].grad, twins["layer"].weight.grad, twins["x"].grad.tolist() == x.grad.tolist()]
        found.append((grads, twins["x"].grad is x.grad, twins["p"] is twins["again"], layer.weight.grad.tolist()))
    assert found[0] == found[1] == ([None, None, True], False, True, [[1.0, 1.0]])


@pytest.mark.parametrize("kind", ["float64", "float16", "DoubleTensor", "torch.DoubleTensor", "int64"])
def test_type_converts_parameters_buffers_and_gradients(kind: str) -> None:
    found = []
    for m in (av, torch):
        model = m.nn.Sequential(m.nn.Linear(2, 3), m.nn.BatchNorm1d(3))
        weight = model[0].weight
        model(m.ones(4, 2)).sum().backward()
        try:
            same = model.type(kind if "." in kind else getattr(m, kind)) is model
        except RuntimeError as error:
            found.append(str(error))
            continue
        kinds = [str(t.dtype) for t in model.state_dict().values()]
        found.append((same, kinds, str(weight.grad.dtype), model[0].weight is weight))
    assert found[0] == found[1]


def test_to_empty_gives_new_memory() -> None:
    for m in (av, torch):
        model = m.nn.Sequential(m.nn.Linear(2, 3), m.nn.BatchNorm1d(3))
        before = {name: (t.data_ptr(), t.shape, t.dtype) for name, t in model.state_dict().items()}
        assert model.to_empty(device="cpu") is model
        after = {name: (t.data_ptr(), t.shape, t.dtype) for name, t in model.state_dict().items()}
        assert all(before[name][1:] == after[name][1:] and before[name][0] != after[name][0] for name in before)
        assert model[0].weight.requires_grad
