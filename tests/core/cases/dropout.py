from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "dropout_with_mask": [([array(3)], {"p": 0.0})],  # nothing is drawn
}
WITHOUT = {
    "native_dropout_backward": "runs in the second derivative of native_dropout",
}
