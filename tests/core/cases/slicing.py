from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "select": [([array(2, 3)], {"dim": 1, "index": 2}), ([array(2, 3)], {"dim": -1, "index": -1})],
    "select_backward": [([array(2)], {"size": (2, 3), "dim": 1, "index": 2})],
    "slice_dim": [([array(2, 5)], {"dim": -1, "start": 1, "end": 2**63 - 1, "step": 2})],
    "slice_backward": [([array(2, 2)], {"size": (2, 5), "dim": 1, "start": 1, "end": 5, "step": 2})],
    "unbind_dim": [([array(2, 3)], {"dim": 1})],
    "split_equally": [([array(5)], {"split_size": 2, "dim": 0}), ([array(2, 4)], {"split_size": 2, "dim": -1})],
    "split_with_lengths": [([array(2, 3)], {"split_sizes": (1, 0, 2), "dim": 1})],
    "diagonal": [([array(3, 4)], {"offset": 1}), ([array(2, 3, 2)], {"offset": -1, "dim1": -2, "dim2": 0})],
    "diagonal_backward": [([array(3)], {"size": (3, 4), "offset": 1, "dim1": 0, "dim2": 1})],
    "unfold_windows": [
        ([array(5)], {"dimension": 0, "size": 3, "step": 1}),
        ([array(2, 5)], {"dimension": -1, "size": 2, "step": 2}),
        ([array()], {"dimension": 0, "size": 1, "step": 1}),
    ],
    "unfold_backward": [([array(3, 2)], {"input_sizes": (4,), "dim": 0, "size": 2, "step": 1})],
}
