"""set_printoptions beside PyTorch's: any tensor under any options."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

OPTIONS: dict[str, list[Any]] = {
    "precision": [0, 1, 2, 6, 10],
    "threshold": [0, 5, 20, float("inf")],
    "edgeitems": [0, 1, 2, 4],
    "linewidth": [20, 60, 200],
    "profile": ["default", "short", "full"],
    "sci_mode": [True, False, None],
}


@pytest.fixture(autouse=True)
def default_again() -> Iterator[None]:
    yield
    for m in (av, torch):
        m.set_printoptions(profile="default")


def values(rng: np.random.Generator) -> Any:
    shape = tuple(rng.integers(1, 9, rng.integers(0, 4)))
    a = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-6, 6))
    kinds = [
        a, a.astype(np.float32), a.astype(int), a > 0, a + 1j * rng.normal(size=shape), np.round(a),
        np.where(a > 1, np.inf, np.where(a < -1, np.nan, a * (a > 0))),
    ]  # fmt: skip
    return np.asarray(kinds[rng.integers(len(kinds))])


def test_any_tensor_is_printed_as_pytorch_prints_it_under_any_options() -> None:
    rng, choose = np.random.default_rng(0), random.Random(0)
    for _ in range(300):
        given = {name: choose.choice(few) for name, few in OPTIONS.items() if choose.random() < 0.4}
        array = values(rng)
        for m in (av, torch):
            m.set_printoptions(**given)
        assert repr(av.tensor(array)) == repr(torch.tensor(array)), given


def test_a_picture_keeps_its_digits() -> None:
    x = av.tensor([1.23456], requires_grad=True)
    y = x * 2
    before = av.show(y).svg
    av.set_printoptions(precision=1, sci_mode=True)
    assert repr(x) == "tensor([1.2e+00], requires_grad=True)"
    after = av.show(y).svg
    assert after == before
