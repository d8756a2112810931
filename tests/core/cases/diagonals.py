from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "diag_embed": [([array(3)], {"offset": -1}), ([array(2, 2)], {"offset": 1, "dim1": 0, "dim2": 2})],
    "diagonal_copy": [([array(3, 4)], {"offset": 1}), ([array(2, 3, 2)], {"offset": -1, "dim1": -2, "dim2": 0})],
    "trace": [([array(2, 3)], {})],
    "tril": [([array(3, 3)], {"diagonal": -1})],
    "triu": [([array(2, 2, 3)], {"diagonal": 1})],
}
