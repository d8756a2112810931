from __future__ import annotations

import autograd_viz as av

from . import Cases, array, positive

BAGS = {"indices": av.tensor([1, 2, 0, 1]), "offsets": av.tensor([0, 3, 3])}

CASES: Cases = {
    "embedding_bags": [([array(3, 2)], {**BAGS, "mode": mode}) for mode in range(3)]
    + [
        ([array(3, 2), positive(4)], BAGS),
        ([array(3, 2)], {**BAGS, "mode": 1, "padding_idx": 1}),
        ([array(3, 2)], {"indices": BAGS["indices"], "offsets": av.tensor([0, 1, 4]), "include_last_offset": True}),
    ],
}

NOT_TWICE = {"embedding_bags": "PyTorch has no derivative of _embedding_bag_backward"}
