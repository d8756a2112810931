from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "i0": [([array(3)], {})],
    "i0e": [([array(3)], {})],
    "i1": [([array(3)], {})],
    "i1e": [([array(3)], {})],
    "zeta_of_number": [([array(3) + 2], {"self": 3.0})],
}
WITHOUT = {
    "igamma": "PyTorch has no derivative for its first argument: refused (tests/core/test_elementwise.py)",
    "igammac": "as igamma",
    "zeta_tensors": "PyTorch has no derivative for its first argument: refused",
    "zeta_number": "PyTorch has no derivative for its first argument: refused",
}
