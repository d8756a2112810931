from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "floor": [([array(4)], {})],
    "ceil": [([array(4)], {})],
    "trunc": [([array(4)], {})],
    "frac": [([array(4)], {})],
    "round_whole": [([array(4)], {})],
    "round_decimals": [([array(4) * 10], {"decimals": -1}), ([array(4) / 7], {"decimals": 1})],
    "div_rounded": [([array(4), positive(4)], {"rounding_mode": m}) for m in (None, "floor", "trunc")],
    "fmod_tensor": [([9.7 * array(2, 3), positive(3)], {})],
    "fmod_scalar": [([10 * array(4)], {"other": 1.5})],
    "remainder_tensor": [([9.7 * array(2, 3), positive(3)], {})],
    "remainder_scalar": [([10 * array(4)], {"other": -1.5})],
}
WITHOUT = {
    "floor_divide": "not differentiable: its backward refuses (tests/core/test_elementwise.py)",
    "remainder_of_scalar": "not differentiable: its backward refuses (tests/core/test_elementwise.py)",
}
