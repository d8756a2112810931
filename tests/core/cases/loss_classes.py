from __future__ import annotations

import numpy as np

import autograd_viz as av

from . import Cases, array, positive

ROWS, IMAGE = av.tensor([1, 0, 2]), av.tensor(np.array([[[1, 0], [2, 1]]]))
WEIGHT = av.tensor(positive(3))

CASES: Cases = {
    "nll_loss_forward": [
        ([array(3, 3)], {"target": ROWS, "reduction": r, "weight": w}) for r in range(3) for w in (None, WEIGHT)
    ]
    + [([array(3, 3)], {"target": ROWS, "ignore_index": 0}), ([array(3)], {"target": av.tensor(1)})],
    "nll_loss_backward": [
        (
            [array(), array(3, 3)],
            {"target": ROWS, "weight": WEIGHT, "reduction": 1, "ignore_index": 0, "total_weight": WEIGHT[1] + WEIGHT[2]},
        )
    ],
    "nll_loss2d_forward": [([array(1, 3, 2, 2)], {"target": IMAGE, "reduction": r, "weight": WEIGHT}) for r in range(3)],
    "nll_loss2d_backward": [
        (
            [array(1, 2, 2), array(1, 3, 2, 2)],
            {"target": IMAGE, "weight": None, "reduction": 0, "ignore_index": -100, "total_weight": av.tensor(positive())},
        )
    ],
}
