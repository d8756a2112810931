from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "abs": [([array(4)], {})],
    "sign": [([array(3)], {})],
    "sgn": [([array(3)], {})],
    "copysign_tensor": [([array(4), -array(4)], {})],
    "copysign_scalar": [([array(4)], {"other": -1.0})],
    "angle": [([array(3)], {})],
    "nextafter": [([array(3), positive(3) + 5], {})],
    "nan_to_num": [([array(3)], {})],
}
NOT_TWICE = {"nextafter": "differences of a step of one unit in the last place are noise"}
WITHOUT = {
    "heaviside": "not differentiable: its backward refuses (tests/core/test_elementwise.py)",
}
