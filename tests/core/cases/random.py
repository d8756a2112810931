from __future__ import annotations

from . import Cases

CASES: Cases = {}
# what is drawn does not depend on the values that were there: tests/core/test_random.py looks at the numbers
WITHOUT = dict.fromkeys(
    (
        "bernoulli_draw", "bernoulli_number_fill", "bernoulli_tensor_fill", "exponential_fill",
        "normal_around", "normal_both", "normal_fill", "normal_spread", "poisson", "random_fill",
        "uniform_fill",
    ),
    "its result is drawn; every gradient is zero",
)  # fmt: skip
