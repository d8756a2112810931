from __future__ import annotations

from . import Cases, array

ALONG = [([array(3, 4)], {"dim": 1}), ([array(3, 4)], {"dim": 0, "keepdim": True})]

CASES: Cases = {
    **{name: [([array(3, 3)], {})] for name in ("max_all", "min_all", "median_all", "nanmedian_all")},
    **dict.fromkeys(("max_dim", "min_dim", "median_dim", "nanmedian_dim", "mode_dim"), ALONG),
    "amax_dims": [([array(2, 3)], {"dim": (1,)}), ([array(2, 3, 2)], {"dim": (0, 2), "keepdim": True})],
    "amin_dims": [([array(2, 3)], {"dim": (0, 1)})],
    "aminmax_dim": [([array(2, 3)], {"dim": 1}), ([array(2, 3)], {})],
    "kthvalue_dim": [([array(2, 4)], {"k": 2, "dim": 1}), ([array(3, 2)], {"k": 3, "dim": 0, "keepdim": True})],
}
