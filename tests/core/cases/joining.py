from __future__ import annotations

import numpy as np

from . import Cases, array

CASES: Cases = {
    "stack_tensors": [([array(2), array(2)], {"dim": 1})],
    "cat_tensors": [
        ([array(2, 1), array(2, 2)], {"dim": 1}),
        ([array(2, 1), array(2, 1), array(2, 2)], {"dim": -1}),
        ([array(2), np.zeros(0), array(1)], {"dim": 0}),
    ],
    "block_diag_tensors": [([array(2, 1), array(2), array()], {})],
}
