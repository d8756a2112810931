from __future__ import annotations

import autograd_viz as av

from . import Cases, array

ROWS, COLUMNS = av.tensor([0, 1, 0]), av.tensor([2, 0, 2])
MASK = av.tensor([True, False, True])

CASES: Cases = {
    "index_tensors": [
        ([array(2, 3)], {"indices": (ROWS, COLUMNS)}),
        ([array(2, 3, 2)], {"indices": (ROWS, None, av.tensor([-1]))}),
        ([array(2, 3)], {"indices": (None, MASK)}),
    ],
    "index_put_tensors": [
        ([array(2, 3), array(2)], {"indices": (av.tensor([0, 1]), av.tensor([2, 0]))}),
        ([array(2, 3), array(3)], {"indices": (ROWS, COLUMNS), "accumulate": True}),
        ([array(2, 3), array()], {"indices": (None, MASK)}),
    ],
}
