from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "select_scatter": [([array(2, 3), array(2)], {"dim": -1, "index": 1})],
    "slice_scatter": [([array(2, 4), array(2, 2)], {"dim": 1, "start": 1, "end": 4, "step": 2})],
    "diagonal_scatter": [([array(2, 3), array(2)], {"offset": 1})],
}
