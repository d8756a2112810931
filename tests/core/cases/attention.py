from __future__ import annotations

import numpy as np

import autograd_viz as av

from . import Cases, array

Q, K, V = array(1, 2, 2, 2) / 3, array(1, 2, 3, 2, low=-0.2) / 3, array(1, 2, 3, 2, low=0.1)
MASK = av.tensor(np.array([[0.0, -np.inf, 0.5], [0.2, 0.0, -0.3]]))

CASES: Cases = {
    "flash_attention": [
        ([Q, K, V], {}),
        ([Q, K, V], {"is_causal": True, "scale": 0.8}),
        ([Q, K, V], {"attn_mask": MASK}),
        ([Q, K[:, :1], V[:, :1]], {}),  # two query heads share a key
    ],
}
