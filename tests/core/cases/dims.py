from __future__ import annotations

import numpy as np

from . import Cases, array

PLACES = np.array([[1, 0], [1, 1]])

CASES: Cases = {
    "take_at": [
        ([array(2, 3)], {"indices": np.array([2, 0]), "dim": 1, "keepdim": False}),
        ([array(2, 2)], {"indices": PLACES, "dim": 0, "keepdim": True}),
    ],
    "put_at": [
        ([array(2)], {"indices": np.array([2, 0]), "sizes": (2, 3), "dim": 1, "keepdim": False}),
        ([array(2, 2)], {"indices": PLACES, "sizes": (2, 2), "dim": 0, "keepdim": True}),
    ],
}
