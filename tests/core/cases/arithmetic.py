from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "add": [([array(2, 3), array(3)], {}), ([array(2), array(2)], {"alpha": 2.5})],
    "sub": [([array(2, 1), array(3)], {}), ([array(2), array(2)], {"alpha": 2})],
    "rsub_tensor": [([array(2, 1), array(3)], {}), ([array(2), positive(2)], {"alpha": 2})],
    "rsub_scalar": [([array(3)], {"other": 2.0}), ([array(3)], {"other": 1.0, "alpha": 3})],
    "mul": [([array(2, 3), array()], {}), ([array(3), array(3)], {})],
    "div_tensors": [([array(2, 3), positive(3)], {})],
    "neg": [([array(3)], {})],
    "reciprocal": [([positive(3)], {})],
    "add_scalar": [([array(2)], {"other": 2.0, "alpha": 3})],
    "sub_scalar": [([array(2)], {"other": 2.0})],
    "mul_scalar": [([array(2)], {"other": 2.0})],
    "div_scalar": [([array(2)], {"other": 2.0})],
}
