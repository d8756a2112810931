from __future__ import annotations

import autograd_viz as av

from . import Cases, array

PLACES = av.tensor([[1, 2], [0, 1]])

CASES: Cases = {
    "embedding": [([array(3, 2)], {"indices": PLACES})],
    "embedding_dense_backward": [([array(2, 2, 2)], {"indices": PLACES, "num_weights": 3, "padding_idx": 1})],
    "rows_but_padding": [([array(3, 2)], {"indices": PLACES, "padding_idx": 0})],
}
