from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "view_sizes": [([array(2, 3)], {"size": (3, 2)})],
    "reshape_alias": [([array(2, 3)], {"size": (3, 2)})],
    "unsafe_view": [([array(2, 3)], {"size": (6,)})],
    "alias": [([array(2)], {})],
    "expand_sizes": [([array(1, 3)], {"size": (2, 2, 3)})],
    "t": [([array(2, 3)], {})],
    "permute_dims": [([array(2, 3, 1)], {"dims": (2, 0, 1)}), ([array(2, 3, 1)], {"dims": (-1, 0, 1)})],
    "transpose_dims": [([array(2, 3, 1)], {"dim0": 0, "dim1": 2})],
    "unsqueeze": [([array(2)], {"dim": 0}), ([array(2)], {"dim": -1})],
    "squeeze_all": [([array(1, 2)], {})],
    "squeeze_dim": [([array(1, 2)], {"dim": 0}), ([array(1, 2)], {"dim": 1})],
    "squeeze_dims": [([array(1, 2, 1)], {"dim": (0, -1)})],
    "clone": [([array(2)], {})],
    "copy_into": [([array(2), array(2)], {})],
}
