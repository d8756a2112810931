from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "dropout_with_mask": [([array(3)], {"p": 0.0})],  # nothing is drawn
    "native_dropout_backward": [],  # the mask is an input of True and False: test_losses.py
}
