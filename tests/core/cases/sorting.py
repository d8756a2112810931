from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "sort_dim": [([array(3, 3)], {"dim": 1}), ([array(3, 3)], {"dim": 0, "descending": True})],
    "sort_stable": [([array(3, 3)], {"stable": True})],
    "topk_dim": [([array(2, 5)], {"k": 3}), ([array(4, 2)], {"k": 2, "dim": 0, "largest": False})],
}
