"""Random numbers are PyTorch's: the same seed, the same values, the same place in the stream afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_viz as av

SIZES: list[Any] = [0, 1, 7, 15, 16, 17, 32, 100, (3, 4), (5, 7)]
DRAWS = {
    "rand": lambda m, n, d: m.rand(n, dtype=d),
    "randn": lambda m, n, d: m.randn(n, dtype=d),
    "normal_": lambda m, n, d: m.empty(n, dtype=d).normal_(2, 0.5),
    "uniform_": lambda m, n, d: m.empty(n, dtype=d).uniform_(-2, 0.5),
    "exponential_": lambda m, n, d: m.empty(n, dtype=d).exponential_(2),
    "bernoulli_": lambda m, n, d: m.empty(n, dtype=d).bernoulli_(0.2),
    "random_": lambda m, n, d: m.empty(n, dtype=d).random_(3, 20),
    "random_ of everything": lambda m, n, d: m.empty(n, dtype=d).random_(),
    "bernoulli": lambda m, n, d: m.bernoulli(m.full(n if isinstance(n, tuple) else (n,), 0.3, dtype=d)),
    "normal": lambda m, n, d: m.normal(m.full(n if isinstance(n, tuple) else (n,), 0.3, dtype=d), 2.0),
}
MORE = [
    lambda m: m.randint(3, 10, (4, 5)),
    lambda m: m.randint(2**40, (4, 5)),
    lambda m: m.randint_like(m.ones(3), 9),
    lambda m: m.rand_like(m.ones(3)),
    lambda m: m.randn_like(m.ones(30)),
    lambda m: m.randperm(100),
    lambda m: m.normal(1, 2.0, (3, 4)),
    lambda m: m.normal(2.0, m.tensor([0.5, 1.0])),
    lambda m: m.empty(20, dtype=m.int32).random_(),
    lambda m: m.empty(20, dtype=m.uint8).random_(),
    lambda m: m.empty(20, dtype=m.bool).bernoulli_(),
    lambda m: m.poisson(m.arange(0.0, 9.0)),
    lambda m: m.multinomial(m.arange(1.0, 10.0), 3),
    lambda m: m.multinomial(m.arange(1.0, 21.0).reshape(2, 10), 5, replacement=True),
    lambda m: m.rand(3, generator=m.Generator().manual_seed(5)),
]


TURNED: list[Any] = [  # the order in memory is another than that of the dimensions
    lambda m, x: m.rand_like(x),
    lambda m, x: m.randn_like(x),
    lambda m, x: m.randint_like(x, 10),
    lambda m, x: m.rand_like(x[:, 1:3]),
    lambda m, x: m.nn.functional.dropout(x + 1),
    lambda m, x: m.nn.functional.alpha_dropout(x + 1, training=True),
    lambda m, x: x.normal_(),
    lambda m, x: x.uniform_(),
    lambda m, x: x.bernoulli_(0.4),
    lambda m, x: x[:, 1:3].uniform_(),
    lambda m, x: m.randn_like(x.sum(0, keepdim=True)),
]


def drawn(m: Any, act: Any) -> Any:
    m.manual_seed(7)
    result = act(m)
    return result.numpy(), str(result.dtype), m.rand(1).item()


def difference(act: Any) -> str:
    """What differs between what autograd_viz and PyTorch draw, and the number that each draws next; empty if nothing."""
    torch = pytest.importorskip("torch")
    (mine, *rest), (theirs, *others) = drawn(av, act), drawn(torch, act)
    rtol = 2e-3 if mine.dtype == np.float16 else 5e-6
    alike = mine.shape == theirs.shape and np.allclose(mine.astype(np.float64), theirs.astype(np.float64), rtol, 1e-6)
    return "" if alike and rest == others else f"{mine} {rest}, PyTorch: {theirs} {others}"


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_pytorchs(name: str, kind: str) -> None:
    for size in SIZES:
        assert difference(lambda m, size=size: DRAWS[name](m, size, getattr(m, kind))) == ""


@pytest.mark.torch
@pytest.mark.parametrize("act", MORE)
def test_whole_numbers_orders_and_choices_are_pytorchs(act: Any) -> None:
    assert difference(act) == ""


@pytest.mark.torch
@pytest.mark.parametrize("act", TURNED)
def test_memory_is_filled_in_its_own_order(act: Any) -> None:
    assert difference(lambda m: act(m, m.zeros(5, 6, 4).permute(2, 0, 1))) == ""


@pytest.mark.torch
def test_seeded_layers_have_pytorchs_very_weights() -> None:
    torch = pytest.importorskip("torch")
    weights = []
    for m in (av, torch):
        m.manual_seed(0)
        weights.append(m.nn.Linear(3, 4).weight.tolist())
    assert weights[0] == weights[1]


def test_the_state_leads_back() -> None:
    av.manual_seed(1)
    av.randn(3)  # an odd number: one waits in the generator
    state = av.get_rng_state()
    first = av.randn(5).tolist()
    av.set_rng_state(state)
    assert av.randn(5).tolist() == first


def test_what_was_drawn_has_no_gradient_to_pass_on() -> None:
    x = av.ones(3, requires_grad=True)
    y = (x * 2).normal_()
    y.sum().backward()
    assert y.grad_fn is not None and y.grad_fn.name() == "NormalBackward0"
    assert x.grad is not None and x.grad.tolist() == [0, 0, 0]


REFUSALS = [
    lambda m: m.tensor([[1], [2, 3]]),
    lambda m: m.tensor("a"),
    lambda m: m.tensor(["a"]),
    lambda m: m.tensor([1, None]),
    lambda m: m.tensor([m.ones(2), m.ones(2)]),
    lambda m: m.tensor(1, requires_grad=True),
    lambda m: m.tensor(2**70),
    lambda m: m.tensor(300, dtype=m.uint8),
    lambda m: m.arange(1, 0),
    lambda m: m.arange(0, 5, 0),
    lambda m: m.linspace(0, 1, -1),
    lambda m: m.eye(-1),
    lambda m: m.zeros(-1),
    lambda m: m.zeros(2, "a"),
    lambda m: m.zeros(2.5),
    lambda m: m.ones_like([1]),
    lambda m: m.from_numpy([1]),
    lambda m: m.zeros(2, device="cuda"),
    lambda m: m.device("foo"),
    lambda m: m.randint(5, 5, (2,)),
    lambda m: m.randn(2, dtype=m.int64),
    lambda m: m.rand(2, dtype=m.int64),
    lambda m: m.normal(0.0, -1.0, (2,)),
    lambda m: m.empty(2).uniform_(2, 1),
    lambda m: m.empty(2).bernoulli_(2),
    lambda m: m.bernoulli(m.tensor([2.0])),
    lambda m: m.multinomial(m.tensor([-1.0, 1]), 1),
    lambda m: m.multinomial(m.ones(2), 3),
    lambda m: m.randperm(-1),
]


@pytest.mark.torch
@pytest.mark.parametrize("act", REFUSALS)
def test_refusals_are_pytorchs(act: Any) -> None:
    torch = pytest.importorskip("torch")
    said = []
    for m in (av, torch):
        with pytest.raises(Exception) as info:
            act(m)
        said.append((info.type.__name__, str(info.value)))
    assert said[0] == said[1]


LEAVES = [
    lambda m: m.tensor([True, 2]),
    lambda m: m.tensor([1, 2.5]),
    lambda m: m.tensor([m.tensor(1.0), 2]),
    lambda m: m.tensor([]),
    lambda m: m.arange(0, 1, 0.1),
    lambda m: m.arange(5.0),
    lambda m: m.arange(3, 0, -1),
    lambda m: m.arange(-8.0, 8.0, 0.1),
    lambda m: m.Tensor([1, 2]),
    lambda m: m.Tensor(),
    lambda m: m.linspace(-3, 5, 17),
    lambda m: m.linspace(0, 10, 7, dtype=m.int64),
    lambda m: m.logspace(0, 2, 3),
    lambda m: m.eye(2, 3),
    lambda m: m.full((2,), True),
    lambda m: m.full((2,), 1),
    lambda m: m.full_like(m.ones(2), 7, dtype=m.int64),
    lambda m: m.ones(2, dtype=m.int32).new_zeros(2, 3),
    lambda m: m.ones(2).new_tensor([1, 2]),
    lambda m: m.tril_indices(3, 3),
    lambda m: m.triu_indices(2, 3, 1),
    lambda m: m.hann_window(7),
    lambda m: m.hamming_window(8, periodic=False),
    lambda m: m.scalar_tensor(3),
    lambda m: m.LongTensor([2, 3]),
]


@pytest.mark.torch
@pytest.mark.parametrize("make", LEAVES)
def test_leaves_are_pytorchs(make: Any) -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = make(av), make(torch)
    assert (str(mine.dtype), tuple(mine.shape)) == (str(theirs.dtype), tuple(theirs.shape))
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-7)


@pytest.mark.torch
def test_copying_a_tensor_by_tensor_warns_in_pytorchs_words() -> None:
    torch = pytest.importorskip("torch")
    said = []
    for m in (av, torch):
        with pytest.warns(UserWarning) as caught:
            m.tensor(m.ones(2))
        said.append(str(caught[0].message))
    assert said[0] == said[1]
