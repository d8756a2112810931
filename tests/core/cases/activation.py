from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "relu": [([array(4)], {})],
    "threshold_backward": [([array(4), array(4)], {"threshold": 0})],
    "sigmoid": [([array(3)], {})],
    "sigmoid_backward": [([array(3), positive(3)], {})],
    "tanh": [([array(3)], {})],
    "tanh_backward": [([array(3), array(3)], {})],
}
