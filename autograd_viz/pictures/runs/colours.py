"""The colour of a norm: a logarithmic scale."""

from __future__ import annotations

import math

import numpy as np

from .rows import Numbers

# viridis (matplotlib, CC0) at eleven equal distances
SCALE = (
    "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c", "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
)  # fmt: skip
LEAST, MOST = 3, 12  # decades


def decades(norms: Numbers) -> tuple[int, int]:
    """The ends of the scale as exponents of ten, so that almost all norms lie between them.

    A run that explodes is cut some decades above its usual norms: else these would all be one colour.
    """
    known = norms[np.isfinite(norms) & (norms > 0)]
    if not len(known):
        return -LEAST, 0
    low, high = np.floor(np.log10(np.percentile(known, 2))), np.ceil(np.log10(np.percentile(known, 99.5)))
    usual = max(float(np.median(row[row > 0])) for row in norms if (row > 0).any())
    high = min(high, np.ceil(math.log10(usual)) + LEAST)
    low = max(low, high - MOST)
    return int(min(low, high - LEAST)), int(high)


def colour_of(norm: float, low: int, high: int) -> int:
    """The place of a norm in `SCALE`."""
    share = (math.log10(norm) - low) / (high - low) if norm > 0 else 0.0
    return round(min(1.0, max(0.0, share)) * (len(SCALE) - 1))
