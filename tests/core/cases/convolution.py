from __future__ import annotations

from typing import Any

from . import Cases, array


def options(n: int, **changed: Any) -> dict[str, Any]:
    """A plain convolution of `n` dimensions, or one with these options."""
    plain = {"stride": (1,) * n, "padding": (0,) * n, "dilation": (1,) * n, "transposed": False, "output_padding": (0,) * n}
    return {**plain, "groups": 1, **changed}


WIDE = options(1, stride=(2,), padding=(1,), dilation=(2,))
GROWING = options(1, stride=(2,), padding=(1,), transposed=True, output_padding=(1,))

CASES: Cases = {
    "convolution": [
        ([array(1, 2, 3, 3), array(1, 2, 2, 2), array(1)], options(2)),
        ([array(2, 2, 5), array(4, 1, 2), array(4)], {**WIDE, "groups": 2}),
        ([array(1, 2, 3), array(2, 2, 2), array(2)], GROWING),
        ([array(1, 1, 2, 2, 2), array(1, 1, 2, 1, 2)], options(3)),
    ],
    "convolution_backward_input": [
        ([array(1, 1, 2, 2), array(1, 2, 3, 3), array(1, 2, 2, 2)], options(2)),
        ([array(1, 2, 2), array(1, 2, 4), array(2, 1, 2)], {**WIDE, "groups": 2}),
        ([array(1, 2, 7), array(1, 2, 3), array(2, 2, 2)], {**GROWING, "padding": (0,)}),
    ],
    "convolution_backward_weight": [
        ([array(1, 1, 2, 2), array(1, 2, 3, 3), array(1, 2, 2, 2)], options(2)),
        ([array(1, 2, 2), array(1, 2, 4), array(2, 1, 2)], {**WIDE, "groups": 2}),
        ([array(1, 2, 7), array(1, 2, 3), array(2, 2, 2)], {**GROWING, "padding": (0,)}),
    ],
}
