"""Every rule writes a formula that a person can read: names, numbers and ops, nothing that only a machine would print."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.sources.shared.formulas import symbolic_formulas
from autograd_viz.twin.core.base.readings import TENSOR_NAMES
from autograd_viz.twin.core.methods import load_more

from .cases import Cases, all_cases, array, positive, without

load_more()
SQUARE = [np.array([[2.0, 0.5], [0.5, 1.0]])]
# ops that the tests of rules cannot differentiate numerically
MORE: Cases = {
    "log_sigmoid_forward": [([array(3)], {})],
    "log_sigmoid_backward": [([array(3), array(3), positive(3)], {})],
    "ctc_loss_forward": [
        ([array(3, 1, 2)], {"targets": np.array([[1]]), "input_lengths": np.array([3]), "target_lengths": np.array([1])})
    ],
    "linalg_solve_ex": [([*SQUARE, array(2, 1)], {})],
    "known_mean": [([array(3)], {"mean": np.zeros(1), "dim": (0,)})],
    "known_rstd": [([array(3)], {"rstd": np.ones(1), "dim": (0,)})],
    "floor_divide": [([positive(3), positive(3)], {})],
    "remainder_of_scalar": [([positive(3)], {"self": 5.0})],
    "heaviside": [([array(3), array(3)], {})],
    "scatter_combined": [([array(3), array(3)], {"dim": 0, "index": np.array([0, 2, 0]), "reduce": "add"})],
    "bernoulli_tensor_fill": [([array(3), np.full(3, 0.5)], {})],
    "bernoulli_draw": [([np.full(3, 0.5)], {})],
    "poisson": [([positive(3)], {})],
    "normal_both": [([array(3), positive(3)], {})],
    "normal_spread": [([positive(3)], {})],
    "count_values": [([np.array([0, 1, 1]), array(3)], {})],
    **{name: [([array(3)], {})] for name in ["distinct_runs", "distinct_values"]},
    "random_fill": [([array(3)], {"low": 3})],
    **{name: [(SQUARE, {})] for name in ["det_tensor", "slogdet_tensor", "cholesky_tensor", "linalg_cholesky_ex"]},
    **{name: [(SQUARE, {})] for name in ["eigh_tensor", "eig_tensor"]},
    **{name: [([array(3)], {})] for name in ["bernoulli_number_fill", "exponential_fill", "normal_fill", "uniform_fill"]},
    "normal_around": [([array(3)], {})],
    "view_as_real": [([array(3) + 1j * array(3)], {})],
}
CASES = {**all_cases(), **MORE}
MACHINE_TEXT = re.compile(r"array\(|tensor\(|<[a-zA-Z]| at 0x|\n|dtype=|\bfreed\b")


def test_every_op_is_shown() -> None:
    assert set(MORE) == set(without())


def test_softplus_shows_its_threshold() -> None:
    x = av.tensor([1.0, 30.0], requires_grad=True)
    assert symbolic_formulas(av.nn.functional.softplus(x).grad_fn) == {"self": "where(self > 20, grad, grad * sigmoid(self))"}


@pytest.mark.parametrize(
    ("pool", "name"),
    [
        (lambda x: av.nn.functional.avg_pool2d(x, 2), "avg_pool2d_backward"),
        (lambda x: av.nn.functional.adaptive_avg_pool2d(x, 2), "adaptive_avg_pool2d_backward"),
    ],
)
def test_the_gradient_of_a_mean_of_windows_shows_the_gradient_alone(pool: Any, name: str) -> None:
    """The input is read for its shape only."""
    x = av.tensor(array(1, 1, 4, 4), requires_grad=True)
    assert symbolic_formulas(pool(x).grad_fn) == {"self": f"{name}(grad)"}


@pytest.mark.parametrize("name", CASES)
def test_every_rule_writes_a_formula(name: str) -> None:
    for arrays, options in CASES[name]:
        out = TENSOR_NAMES[name](*(av.tensor(a, requires_grad=np.asarray(a).dtype.kind in "fc") for a in arrays), **options)
        results: Any = out if isinstance(out, tuple) else (out,)
        node = next(r.grad_fn for r in results if r.grad_fn is not None)
        formulas = symbolic_formulas(node)
        assert formulas
        for text in formulas.values():
            assert not MACHINE_TEXT.search(text), text
            assert len(text) < 500
