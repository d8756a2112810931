from __future__ import annotations

import autograd_viz as av

from . import Cases, array

LENGTHS = av.tensor([3, 0, 2])

CASES: Cases = {
    "segment_reduce_along": [
        *[([array(5)], {"reduce": r, "lengths": LENGTHS, "initial": 1}) for r in ("sum", "mean", "prod", "max", "min")],
        ([array(2, 3, 2)], {"reduce": "prod", "offsets": av.tensor([[0, 1, 3], [0, 2, 3]]), "axis": 1}),
    ],
}
NOT_TWICE = {"segment_reduce_along": "PyTorch has no derivative of _segment_reduce_backward"}
WITHOUT = {"segment_reduce_backward": "PyTorch has no derivative of it"}
