from __future__ import annotations

from . import Cases, array

BY_ELEMENT = [([array(2, 3), array(2, 3, low=-0.55)], {"reduction": r}) for r in range(3)]

CASES: Cases = {
    "mse_loss": BY_ELEMENT,
    "mse_loss_backward": [([array(), array(2, 3), array(2, 3, low=1.0)], {"reduction": 1})],
    "smooth_l1_loss": [(inputs, {**options, "beta": 0.6}) for inputs, options in BY_ELEMENT]
    + [([array(5), array(5)[::-1]], {"beta": 1.0})],
    "huber_loss": [(inputs, {**options, "delta": 1.3}) for inputs, options in BY_ELEMENT]
    + [([array(5), array(5)[::-1]], {"delta": 0.7})],
}
