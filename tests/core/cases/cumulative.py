from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "cumsum_dim": [([array(2, 3)], {"dim": 1}), ([array(3)], {"dim": -1})],
    "reversed_cumsum": [([array(2, 3)], {"dim": 0})],
    "logcumsumexp_dim": [([array(2, 3)], {"dim": 1})],
    "reversed_logcumsumexp": [([array(2, 3)], {"dim": 1})],
    "cummax_dim": [([array(2, 4)], {"dim": 1})],
    "cummin_dim": [([array(2, 4)], {"dim": 0})],
}
