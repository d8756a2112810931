from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "pow_scalar": [([positive(3)], {"exponent": e}) for e in (0, 1, 2, 3, 0.5, -1.5)],
    "pow_tensor": [([positive(3), array(3)], {})],
    "rpow_scalar": [([array(3)], {"self": 2.5})],
    "sqrt": [([positive(3)], {})],
    "rsqrt": [([positive(3)], {})],
    "exp": [([array(3)], {})],
    "exp2": [([array(3)], {})],
    "expm1": [([array(3)], {})],
    "log": [([positive(3)], {})],
    "log1p": [([positive(3)], {})],
    "log2": [([positive(3)], {})],
    "log10": [([positive(3)], {})],
    "logaddexp": [([array(2, 3), positive(3)], {})],
    "logaddexp2": [([array(2, 3), positive(3)], {})],
    "ldexp": [([array(3), positive(3)], {})],
    "frexp": [([array(3)], {})],
    "hypot": [([array(2, 3), positive(3)], {})],
}
