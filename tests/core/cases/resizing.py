from __future__ import annotations

from typing import Any

from . import Cases, array

X = {1: array(1, 1, 3), 2: array(1, 1, 2, 3), 3: array(1, 1, 2, 1, 2)}
SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}
KINDS = {
    "upsample_nearest1d": 1,
    "upsample_nearest2d": 2,
    "upsample_nearest3d": 3,
    "_upsample_nearest_exact1d": 1,
    "_upsample_nearest_exact2d": 2,
    "_upsample_nearest_exact3d": 3,
    "upsample_linear1d": 1,
    "upsample_bilinear2d": 2,
    "upsample_trilinear3d": 3,
    "upsample_bicubic2d": 2,
}


def sizes(name: str, n: int) -> dict[str, Any]:
    """Twice as large, by factors."""
    aligned = {} if "nearest" in name else {"align_corners": False}
    return {"output_size": tuple(2 * s for s in X[n].shape[2:]), **aligned, **dict.fromkeys(SCALES[n], 2.0)}


def edge(n: int) -> tuple[int, ...]:
    """One more at the start of each dimension, and at the end of the last."""
    return (1, 1, *(1, 0) * (n - 1))


PADS = [(f"{kind}_pad{n}d", n) for kind in ("reflection", "replication") for n in (1, 2, 3)]
INNER = {1: array(1, 3), 2: array(1, 2, 3), 3: array(1, 2, 2, 3)}
OUTER = {1: array(1, 5), 2: array(1, 3, 5), 3: array(1, 3, 3, 5)}
WINDOW = {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (0, 1), "stride": (1, 2)}

CASES: Cases = {
    **{name: [([X[n]], sizes(name, n))] for name, n in KINDS.items()},
    **{
        f"{name}_backward": [
            ([array(1, 1, *(2 * s for s in X[n].shape[2:]))], {"input_size": X[n].shape, **sizes(name, n)}),
        ]
        for name, n in KINDS.items()
    },
    **{name: [([INNER[n]], {"padding": edge(n)})] for name, n in PADS},
    **{f"{name}_backward": [([OUTER[n], INNER[n]], {"padding": edge(n)})] for name, n in PADS},
    "constant_pad_nd": [([array(2, 3)], {"pad": (1, -1, 0, 2), "value": 1.5})],
    "im2col": [([array(1, 2, 2, 3)], WINDOW)],
    "col2im": [([array(1, 4, 2)], {"output_size": (2, 3), **WINDOW})],
    "pixel_shuffle_by": [([array(1, 4, 1, 2)], {"upscale_factor": 2})],
    "pixel_unshuffle_by": [([array(1, 1, 2, 4)], {"downscale_factor": 2})],
}
