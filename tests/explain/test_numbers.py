"""What is read from the numbers of a document."""

from __future__ import annotations

import math

import pytest

from autograd_viz.answers.causes.numbers import nearly

from .explained import X, kinds, run

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("a", "b", "is_near"),
    [
        ((1.0, 1000.0), (1.0, 1000.0), True),
        ((1.0, 1000.0), (1.005, 1000.0), True),  # up to rounding of the largest
        ((1.0, 1000.0), (1.02, 1000.0), False),
        ((1.0,), (1.000005,), True),
        ((1.0,), (1.00002,), False),
        ((-2.0,), (2.0,), False),
        ((1.0,), (-1.0,), False),
        ((0.0,), (0.0,), True),
        ((3 + 4j,), (3 + 4j,), True),
        ((3 + 4j,), (3 - 4j,), False),
        ((NAN, 1.0), (NAN, 1.0), True),
        ((NAN,), (1.0,), False),
        ((INF,), (INF,), True),
        ((INF,), (-INF,), False),
        ((INF, 1.0), (INF, 2.0), False),
        ((1.0,), (1.0, 1.0), False),
    ],
)
def test_equal_up_to_rounding(a: tuple[float, ...], b: tuple[float, ...], is_near: bool) -> None:
    assert nearly(a, b) is is_near and nearly(b, a) is is_near


@pytest.mark.torch
@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3, "float('inf')"])
def test_a_norm_of_0_is_never_a_source_of_nan(p: object) -> None:
    """Its gradient there is 0 for any p. The numbers of the pass are unknown, so only the values count."""
    program = f"{X}y = (x * 0).norm({p})\nloss = torch.where(x > 1, (x - 1).sqrt(), x).sum() + y\nloss.backward()"
    assert "norm" not in str(run(program, "torch"))
    alone = run(f"{X}y = (x * 0).norm({p})\ny.backward()", "torch")
    assert not {"born_norm", "born_other"} & {*kinds(alone)}, alone
