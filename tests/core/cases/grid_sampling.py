from __future__ import annotations

from typing import Any

import numpy as np

from . import Cases, array

IMAGE, VOLUME = array(1, 1, 2, 3), array(1, 1, 2, 2, 2)
GRID = np.array([[[[-0.61, 0.23], [0.37, 1.3]]]])
GRID3 = np.array([[[[[-0.31, 0.23, 0.4]]], [[[0.17, 0.35, -0.7]]]]])


def modes(interpolation: int, padding: int, align_corners: bool = False) -> dict[str, Any]:
    return {"interpolation_mode": interpolation, "padding_mode": padding, "align_corners": align_corners}


BILINEAR, CUBIC = modes(0, 0), modes(2, 0)

CASES: Cases = {
    "grid_sampler_2d": [
        ([IMAGE, GRID], BILINEAR),
        ([IMAGE, GRID], modes(0, 1, True)),
        ([IMAGE, GRID], modes(1, 2)),
        ([IMAGE, GRID], CUBIC),
        ([IMAGE, GRID], modes(2, 2, True)),
    ],
    "grid_sampler_2d_slope": [([IMAGE, GRID], {**BILINEAR, "orders": (1, 0)}), ([IMAGE, GRID], {**CUBIC, "orders": (0, 1)})],
    "grid_sampler_2d_backward": [
        ([array(1, 1, 1, 2), GRID], {**BILINEAR, "size": (2, 3), "orders": (0, 0)}),
        ([array(1, 1, 1, 2), GRID], {**CUBIC, "size": (2, 3), "orders": (1, 0)}),
    ],
    "grid_sampler_3d": [([VOLUME, GRID3], BILINEAR)],
    "grid_sampler_3d_slope": [([VOLUME, GRID3], {**BILINEAR, "orders": (1, 0, 0)})],
    "grid_sampler_3d_backward": [([array(1, 1, 2, 1, 1), GRID3], {**BILINEAR, "size": (2, 2, 2), "orders": (0, 0, 0)})],
    "affine_grid_generator": [([array(1, 2, 3)], {"size": (1, 1, 2, 2), "align_corners": False})],
    "affine_grid_generator_backward": [([array(1, 2, 2, 2)], {"size": (1, 1, 2, 2), "align_corners": True})],
}
