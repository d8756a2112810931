from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "sum_all": [([array(2, 3)], {})],
    "sum_dim": [
        ([array(2, 3)], {"dim": (0,)}),
        ([array(2, 3, 2)], {"dim": (0, -1), "keepdim": True}),
        ([array(2, 3)], {"dim": (-1,)}),
    ],
    "mean_all": [([array(2, 3)], {})],
    "mean_dim": [([array(2, 3)], {"dim": (1,)}), ([array(2, 3)], {"dim": (0,), "keepdim": True})],
    "nansum_dim": [([array(2, 3)], {"dim": (1,)}), ([array(2, 3)], {"dim": None})],
}
