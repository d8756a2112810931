from __future__ import annotations

import numpy as np

import autograd_viz as av

from . import Cases, array

ROWS = av.tensor([[0, 2, 1], [2, 2, 1]])
REDUCTIONS = [
    {"reduce": reduce, "include_self": with_self}
    for reduce in ("sum", "prod", "mean", "amin", "amax")
    for with_self in (True, False)
]
SRC = array(2, 3) * 1.3 + 0.17

CASES: Cases = {
    "scatter_reduce_src": [
        *(([array(3, 3), SRC], {"dim": 0, "index": ROWS, **how}) for how in REDUCTIONS),
        ([array(3, 3), SRC * np.array([[1, 0, 1], [1, 1, 1]])], {"dim": 0, "index": ROWS, "reduce": "prod"}),
    ],
}
