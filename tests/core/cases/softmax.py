from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "softmax_dim": [([array(2, 3)], {"dim": 1}), ([array(2, 3)], {"dim": 0})],
    "safe_softmax_dim": [([array(2, 3)], {"dim": 1})],
    "softmax_backward_data": [([array(2, 3), array(2, 3, low=0.2)], {"dim": 1})],
    "log_softmax_dim": [([array(2, 3)], {"dim": -1})],
    "log_softmax_backward_data": [([array(2, 3), array(2, 3, low=0.2)], {"dim": 0})],
    "logsumexp_dims": [([array(2, 3)], {"dim": (1,)}), ([array(2, 3)], {"dim": (0, 1), "keepdim": True})],
}
