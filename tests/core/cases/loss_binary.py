from __future__ import annotations

import numpy as np

import autograd_viz as av

from . import Cases, array, positive

CHANCE, TRUTH = np.array([[0.2, 0.7, 0.4], [0.9, 0.5, 0.1]]), np.array([[0.3, 0.8, 0.1], [0.6, 0.2, 0.9]])
WEIGHT = av.tensor(positive(3))

CASES: Cases = {
    "binary_cross_entropy": [([CHANCE, TRUTH], {"reduction": r, "weight": w}) for r in range(3) for w in (None, WEIGHT)],
    "binary_cross_entropy_with_logits": [
        ([array(2, 3), TRUTH], {"reduction": r, "weight": w, "pos_weight": p})
        for r, w, p in ((0, None, None), (1, WEIGHT, None), (1, None, WEIGHT), (2, WEIGHT, WEIGHT))
    ],
    "soft_margin_loss": [([array(2, 2)], {"target": av.tensor([[1.0, -1.0], [-1.0, -1.0]]), "reduction": r}) for r in range(3)],
}
