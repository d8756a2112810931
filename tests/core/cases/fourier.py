from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "fft_c2c": [
        ([array(2, 5)], {"dim": (1,), "normalization": 0, "forward": True}),
        ([array(3, 4)], {"dim": (0, 1), "normalization": 1, "forward": False}),
    ],
    "fft_r2c": [
        ([array(2, 5)], {"dim": (1,), "normalization": 0, "onesided": False}),
        ([array(2, 5)], {"dim": (1,), "normalization": 1, "onesided": True}),
        ([array(4, 3)], {"dim": (1, 0), "normalization": 2, "onesided": True}),
    ],
    "fft_c2r": [
        ([array(2, 3)], {"dim": (1,), "normalization": 2, "last_dim_size": 4}),
        ([array(3, 2)], {"dim": (1, 0), "normalization": 1, "last_dim_size": 5}),
    ],
}
