from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "addcmul": [([array(2, 3), array(3), positive(2, 1)], {}), ([array(2), array(2), positive(2)], {"value": 2.5})],
    "addcdiv": [([array(2, 3), array(3), positive(2, 1)], {}), ([array(2), array(2), positive(2)], {"value": 2.5})],
    "lerp_scalar": [([array(3), positive(3)], {"weight": w}) for w in (0.25, 0.75)],
    "lerp_tensor": [([array(3), positive(2, 1), positive(3)], {})],
}
