"""Module's bookkeeping beside PyTorch's: what it lists, prints, saves, refuses, and when its hooks run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def network(m: Any) -> Any:
    m.manual_seed(0)
    inner = m.nn.Sequential(m.nn.Linear(2, 3), m.nn.ReLU())
    return m.nn.Sequential(inner, m.nn.ModuleDict({"a": m.nn.BatchNorm1d(3)}), m.nn.ModuleList([m.nn.Linear(3, 1)] * 2))


ACTS = [
    lambda m: repr(network(m)),
    lambda m: [n for n, _ in network(m).named_parameters()],
    lambda m: [n for n, _ in network(m).named_modules()],
    lambda m: [n for n, _ in network(m).named_buffers()],
    lambda m: [n for n, _ in network(m).named_children()],
    lambda m: list(network(m).state_dict()),
    lambda m: [type(x).__name__ for x in network(m).modules()],
    lambda m: repr(m.nn.ModuleList([m.nn.Linear(2, 2) for _ in range(3)] + [m.nn.ReLU()])),
    lambda m: repr(m.nn.ParameterList([m.ones(2), m.nn.Parameter(m.ones(2, 3)), 3])),
    lambda m: repr(m.nn.ParameterDict({"a": m.ones(2)})),
    lambda m: repr(m.nn.Parameter(m.ones(2))),
    lambda m: repr(m.nn.Sequential(m.nn.ReLU(), m.nn.Tanh(), m.nn.ReLU())[1:]),
    lambda m: repr(network(m).load_state_dict(network(m).state_dict())),
    lambda m: repr(m.nn.Linear(1, 1).load_state_dict({"weight": m.ones(1, 1), "x": m.ones(1)}, strict=False)),
    lambda m: [x.training for x in network(m).eval().modules()],
    lambda m: network(m).get_submodule("0.0").weight.shape == (3, 2),
    lambda m: str(network(m).double().get_parameter("0.0.weight").dtype),
    lambda m: m.nn.GroupNorm(1, 2).reset_parameters(),
]
REFUSALS = [
    lambda m: setattr(m.nn.Linear(2, 3), "weight", m.ones(2)),
    lambda m: setattr(m.nn.Linear(2, 3), "weight", 3),
    lambda m: setattr(m.nn.BatchNorm1d(2), "running_mean", 3),
    lambda m: m.nn.Linear(2, 3).foo,
    lambda m: delattr(m.nn.Linear(2, 3), "foo"),
    lambda m: m.nn.Module()(1),
    lambda m: m.nn.Module().register_parameter("a.b", None),
    lambda m: m.nn.Module().register_parameter("", None),
    lambda m: m.nn.Module().register_parameter("forward", None),
    lambda m: m.nn.Module().register_parameter("x", m.ones(1)),
    lambda m: m.nn.Module().register_buffer("x", 3),
    lambda m: m.nn.Linear(2, 3).register_buffer("weight", m.ones(1)),
    lambda m: m.nn.Module().add_module("x", 3),
    lambda m: m.nn.Module().add_module("a.b", m.nn.ReLU()),
    lambda m: m.nn.Linear(2, 3).load_state_dict({"weight": m.ones(2, 2), "q": m.ones(1)}),
    lambda m: m.nn.Linear(2, 3).load_state_dict(3),
    lambda m: m.nn.Parameter(3),
    lambda m: m.nn.Parameter(m.ones(2, dtype=m.int64)),
    lambda m: m.nn.Linear(2, 3).train(3),
    lambda m: m.nn.Linear(2, 3).get_parameter("q"),
    lambda m: m.nn.Linear(2, 3).get_submodule("x"),
    lambda m: m.nn.Linear(2, 3).to(m.int64),
    lambda m: m.nn.Sequential(m.nn.ReLU())[7],
    lambda m: m.nn.Sequential(3),
    lambda m: m.nn.Dropout(2),
    lambda m: m.nn.Conv2d(3, 4, 2, groups=2),
    lambda m: m.nn.Conv2d(4, 4, 2, padding="same", stride=2),
    lambda m: m.nn.GroupNorm(2, 3),
    lambda m: m.nn.MultiheadAttention(5, 2),
    lambda m: m.nn.BatchNorm2d(3)(m.ones(3, 3)),
    lambda m: m.nn.RNN(2, 3, nonlinearity="x"),
    lambda m: m.nn.LSTM(2, 3)(m.ones(2, 2, 3)),
    lambda m: m.nn.init.xavier_uniform_(m.ones(2)),
    lambda m: m.nn.init.calculate_gain("x"),
]


@pytest.mark.parametrize("act", ACTS)
def test_bookkeeping_is_pytorchs(act: Any) -> None:
    assert act(av) == act(torch)


@pytest.mark.parametrize("act", REFUSALS)
def test_refusals_are_pytorchs(act: Any) -> None:
    said = []
    for m in (av, torch):
        with pytest.raises(Exception) as info:
            act(m)
        said.append((info.type.__name__, str(info.value)))
    assert said[0] == said[1]


def test_assigning_before_init_is_refused_in_pytorchs_words() -> None:
    said = []
    for m in (av, torch):

        class Early(m.nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self, m: Any = m) -> None:
                self.a = m.nn.Linear(1, 1)

        with pytest.raises(AttributeError) as info:
            Early()
        said.append(str(info.value))
    assert said[0] == said[1]


def test_hooks_run_in_pytorchs_order_and_see_the_same() -> None:
    seen: dict[str, list[Any]] = {}
    for m in (av, torch):
        log = seen[m.__name__] = []
        layer = m.nn.Linear(2, 2).double()
        layer.load_state_dict({"weight": m.ones(2, 2, dtype=m.float64), "bias": m.zeros(2, dtype=m.float64)})

        def note(what: str, log: list[Any] = log) -> Any:
            return lambda module, *tensors: log.append((what, [None if t is None else t.tolist() for ts in tensors for t in
                                                               (ts if isinstance(ts, tuple) else (ts,))]))  # fmt: skip

        layer.register_forward_pre_hook(note("before"))
        layer.register_forward_hook(note("after"))
        layer.register_full_backward_pre_hook(note("gradient arrives"))
        layer.register_full_backward_hook(note("gradient leaves"))
        layer.register_forward_hook(lambda module, args, out: out * 2)
        x = m.tensor([[1.0, 2.0]], dtype=m.float64, requires_grad=True)
        y = layer(x)
        y.sum().backward()
        log += [y.grad_fn.name().rpartition("::")[2], x.grad.tolist()]
        with pytest.warns(UserWarning, match="Full backward hook is firing"):
            layer(m.tensor([[1.0, 2.0]], dtype=m.float64)).sum().backward()
    assert seen["autograd_viz"] == seen["torch"]


def test_a_removed_hook_does_not_run() -> None:
    layer, log = av.nn.Identity(), []
    handle = layer.register_forward_hook(lambda *a: log.append(1))
    layer(av.ones(1))
    handle.remove()
    layer(av.ones(1))
    assert log == [1]


INITS = [
    "uniform_(w, -2, 3)", "normal_(w, 1, 2)", "constant_(w, 3.5)", "xavier_uniform_(w, 2)", "xavier_normal_(w)",
    "kaiming_uniform_(w, 0.1)", "kaiming_normal_(w, mode='fan_out', nonlinearity='relu')", "trunc_normal_(w, 0.5, 1.0)",
    "trunc_normal_(w, 0.0, 1.0, 1.5, 2.0)",
    "orthogonal_(w, 2)", "eye_(w)",
]  # fmt: skip


@pytest.mark.parametrize("source", INITS)
@pytest.mark.parametrize("shape", [(5, 3), (3, 20)])
def test_init_draws_pytorchs_numbers(source: str, shape: tuple[int, int]) -> None:
    made = []
    for m in (av, torch):
        m.manual_seed(1)
        w = m.empty(shape)
        eval(f"init.{source}", {"init": m.nn.init, "w": w})
        made.append(w.numpy().copy())
    np.testing.assert_allclose(*made, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_gradients_are_clipped_as_in_pytorch(norm: float) -> None:
    results = []
    for m in (av, torch):
        ps = [m.ones(2, 3, requires_grad=True), m.ones(2, requires_grad=True)]
        (3 * ps[0].sum() + 4 * ps[1].sum()).backward()
        total = m.nn.utils.clip_grad_norm_(ps, 1.5, norm)
        results.append([total.item(), ps[0].grad.tolist(), ps[1].grad.tolist()])
        m.nn.utils.clip_grad_value_(ps, 0.1)
        results[-1].append(ps[1].grad.tolist())
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
