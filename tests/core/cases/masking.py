from __future__ import annotations

import autograd_viz as av

from . import Cases, array

MASK = av.tensor([[True, False, True], [False, True, True]])

CASES: Cases = {
    "masked_fill_scalar": [([array(2, 3)], {"mask": MASK, "value": 7.0}), ([array(3)], {"mask": MASK, "value": 7.0})],
    "masked_fill_tensor": [([array(2, 3), array()], {"mask": MASK})],
    "masked_select": [([array(2, 3)], {"mask": MASK}), ([array(3)], {"mask": MASK})],
    "masked_scatter_values": [([array(2, 3), array(5)], {"mask": MASK})],
    "masked_scatter_backward": [([array(2, 3)], {"mask": MASK, "sizes": (5,)})],
}
