from __future__ import annotations

from . import Cases, array

ORDERS = (1, 2, 3, 1.5, 0.5, -1, float("inf"), -float("inf"))

CASES: Cases = {
    "vector_norm_dims": [
        *(([array(2, 3)], {"ord": p}) for p in (0, *ORDERS)),
        ([array(2, 3)], {"ord": 2, "dim": (1,)}),
        ([array(2, 3)], {"ord": 3, "dim": (0, 1), "keepdim": True}),
    ],
    "norm_dims": [([array(2, 3)], {"p": p, "dim": (1,)}) for p in (1.0, 2.0, 3.0)],
    "dist": [([array(2, 3), array(2, 3, low=1.3)], {"p": p}) for p in (1, 2, 3)],
    "renorm_dim": [([array(3, 2)], {"p": p, "dim": 0, "maxnorm": 1.0}) for p in (1, 2, 3)],
}
