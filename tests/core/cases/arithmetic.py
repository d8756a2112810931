from __future__ import annotations

import numpy as np

from . import Cases, array, positive

CASES: Cases = {
    "add": [([array(2, 3), array(3)], {}), ([array(2), array(2)], {"alpha": 2.5})],
    "sub": [([array(2, 1), array(3)], {}), ([array(2), array(2)], {"alpha": 2})],
    "rsub_scalar": [([array(3)], {"other": 2.0}), ([array(3)], {"other": 1.0, "alpha": 3})],
    "mul": [([array(2, 3), array()], {}), ([array(3), array(3)], {})],
    "div": [([array(2, 3), positive(3)], {})],
    "neg": [([array(3)], {})],
    "reciprocal": [([positive(3)], {})],
    "pow_scalar": [([positive(3)], {"exponent": e}) for e in (0, 1, 2, 3, 0.5, -1.5)],
    "pow_tensor": [([positive(3), array(3)], {})],
    "rpow_scalar": [([array(3)], {"self": 2.5})],
    "where_tensors": [([array(2), array(2)], {"condition": np.array([True, False])})],
    "sign": [([array(3)], {})],
    "abs": [([array(4)], {})],
    "exp": [([array(3)], {})],
    "log": [([positive(3)], {})],
    "sqrt": [([positive(3)], {})],
    "sin": [([array(3)], {})],
    "cos": [([array(3)], {})],
    "zero": [([array(2)], {})],
    "fill": [([array(2)], {"value": 2.0})],
    "add_scalar": [([array(2)], {"other": 2.0, "alpha": 3})],
    "sub_scalar": [([array(2)], {"other": 2.0})],
    "mul_scalar": [([array(2)], {"other": 2.0})],
    "div_scalar": [([array(2)], {"other": 2.0})],
}
