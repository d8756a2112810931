from __future__ import annotations

import numpy as np

from . import Cases, array, positive

ONE_ZERO = np.array([[0.5, 0.0, 2.0], [1.5, -1.0, 0.7]])
TWO_ZEROS = np.array([0.0, 1.5, 0.0, 2.0])

CASES: Cases = {
    "prod_all": [([array(2, 3)], {}), ([ONE_ZERO], {}), ([TWO_ZEROS], {}), ([np.array(1.5)], {})],
    "prod_dim": [([ONE_ZERO], {"dim": 1}), ([array(2, 3)], {"dim": 0, "keepdim": True})],
    "prod_of_others": [([array(2, 3)], {"dim": 0}), ([ONE_ZERO], {"dim": None}), ([TWO_ZEROS], {"dim": 0})],
    "cumprod_dim": [([positive(2, 3)], {"dim": 1}), ([ONE_ZERO], {"dim": 1}), ([TWO_ZEROS], {"dim": 0})],
}
