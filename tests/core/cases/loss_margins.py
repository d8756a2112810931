from __future__ import annotations

import autograd_viz as av

from . import Cases, array, positive

CASES: Cases = {
    "multi_margin_loss": [
        ([array(2, 3)], {"target": av.tensor([1, 2]), "p": p, "margin": 1.3, "weight": w, "reduction": r})
        for p, w, r in ((1, None, 1), (2, None, 0), (2, av.tensor(positive(3)), 2))
    ]
    + [([array(3)], {"target": av.tensor(1)})],
}

NOT_TWICE = {
    "multi_margin_loss": "PyTorch has no derivative of multi_margin_loss_backward",
}
