from __future__ import annotations

from typing import Any

import numpy as np

import autograd_viz as av

from . import Cases, array

X2, X3 = array(1, 1, 3, 4), array(1, 2, 2, 3)
PLACES2, PLACES3 = av.tensor(np.array([[[[0, 6], [6, 11]]]])), av.tensor(np.array([[[[0, 7]]]]))


def windows(n: int, **more: Any) -> dict[str, Any]:
    return {"kernel_size": (2,) * n, "stride": (), "padding": (0,) * n, "ceil_mode": False, **more}


LARGEST = {"padding": (1, 1), "stride": (2, 1), "dilation": (1, 2), "ceil_mode": True}
MEAN: dict[str, Any] = {"count_include_pad": False, "divisor_override": None}
KINDS = ("", "adaptive_")
PLACED = {"indices": av.tensor(np.array([[[[[2, 7]]]]]))}

CASES: Cases = {
    "gather_in_planes": [([X2], {"indices": PLACES2, "n": 2})],
    "scatter_in_planes": [([array(1, 1, 2, 2)], {"indices": PLACES2, "size": (3, 4)})],
    "max_pool2d_with_indices": [([X2], windows(2, dilation=(1, 1))), ([X2], windows(2, **LARGEST))],
    "max_pool3d_with_indices": [([X3], windows(3, dilation=(1, 1, 1)))],
    **{f"adaptive_{kind}_pool2d_to": [([X2], {"output_size": (2, 3)})] for kind in ("avg", "max")},
    **{f"adaptive_{kind}_pool3d_to": [([X3], {"output_size": (1, 2, 2)})] for kind in ("avg", "max")},
    "max_unpool2d_to": [([array(1, 1, 1, 2)], {"indices": av.tensor(np.array([[[[2, 7]]]])), "output_size": (2, 4)})],
    "max_unpool3d_to": [
        ([array(1, 1, 1, 1, 2)], {**PLACED, "output_size": (2, 2, 2), "stride": (2, 2, 1), "padding": (0, 0, 0)})
    ],
    "avg_pool2d_windows": [
        ([X2], windows(2, count_include_pad=True, divisor_override=None)),
        ([X2], windows(2, **{**MEAN, "padding": (1, 1), "stride": (2, 1), "ceil_mode": True})),
        ([X2], windows(2, count_include_pad=True, divisor_override=3)),
    ],
    "avg_pool2d_backward": [([array(1, 1, 1, 2), X2], windows(2, **MEAN))],
    "avg_pool3d_windows": [([X3], windows(3, **MEAN))],
    "avg_pool3d_backward": [([array(1, 1, 1, 1), X3], windows(3, **MEAN))],
    "adaptive_avg_pool2d_backward": [([array(1, 1, 2, 3), X2], {})],
    "adaptive_avg_pool3d_backward": [([array(1, 1, 2, 2), X3], {})],
    **{f"{kind}max_pool2d_backward": [([array(1, 1, 2, 2), X2], {"indices": PLACES2})] for kind in KINDS},
    **{f"{kind}max_pool3d_backward": [([array(1, 1, 1, 2), X3], {"indices": PLACES3})] for kind in KINDS},
}
