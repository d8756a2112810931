from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "zero": [([array(2)], {})],
    "fill_scalar": [([array(2)], {"value": 2.0})],
    "fill_tensor": [([array(2), array()], {})],
    "refill_scalar": [([array(2)], {"value": 3.0})],
    "refill_tensor": [([array(2), array()], {})],
}
