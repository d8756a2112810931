from __future__ import annotations

import autograd_viz as av

from . import Cases, array

ROWS = av.tensor([[0, 2, 1], [2, 2, 0]])
TWICE = {"dim": 0, "index": av.tensor([2, 0, 2])}
ONCE = {"dim": -1, "index": av.tensor([2, 0])}
PLACES = av.tensor([[0, 5], [-2, 0]])

CASES: Cases = {
    "gather": [([array(3, 3)], {"dim": 0, "index": ROWS}), ([array(2, 3)], {"dim": -1, "index": ROWS})],
    "scatter": [([array(2, 3), array(2, 2)], {"dim": 1, "index": av.tensor([[2, 0], [1, 2]])})],
    "scatter_scalar": [([array(3, 3)], {"dim": 0, "index": ROWS, "value": 2.0})],
    "scatter_add": [([array(3, 3), array(2, 3)], {"dim": 0, "index": ROWS})],
    "index_select": [([array(3, 2)], TWICE), ([array()], {"dim": 0, "index": av.tensor([0])})],
    "index_add": [
        ([array(3, 2), array(3, 2)], {**TWICE, "alpha": 2}),
        ([array(3), array()], {"dim": 0, "index": av.tensor([1])}),
    ],
    "index_copy": [([array(2, 3), array(2, 2)], ONCE)],
    "index_fill_scalar": [([array(2, 3)], {**ONCE, "value": 7.0})],
    "index_fill_tensor": [([array(3, 2), array()], TWICE)],
    "take": [([array(2, 3)], {"index": PLACES})],
    "put_values": [
        ([array(2, 3), array(3)], {"index": av.tensor([1, 5, 0])}),
        ([array(2, 3), array(4)], {"index": PLACES, "accumulate": True}),
    ],
}
WITHOUT = {"scatter_combined": "not differentiable: its backward refuses (tests/core/semantics/arguments.py)"}
