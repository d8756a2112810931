from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "i0": [([array(3)], {})],
    "i0e": [([array(3)], {})],
    "i1": [([array(3)], {})],
    "i1e": [([array(3)], {})],
    "igamma": [],  # only the second input has a gradient: test_elementwise.py
    "igammac": [],
    "zeta_tensors": [],
    "zeta_of_number": [([array(3) + 2], {"self": 3.0})],
    "zeta_number": [],
}
