from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "sin": [([array(3)], {})],
    "cos": [([array(3)], {})],
    "tan": [([array(3)], {})],
    "asin": [([array(3) / 2], {})],
    "acos": [([array(3) / 2], {})],
    "atan": [([array(3)], {})],
    "atan2": [([array(2, 3), positive(3)], {})],
    "sinh": [([array(3)], {})],
    "cosh": [([array(3)], {})],
    "asinh": [([array(3)], {})],
    "acosh": [([positive(3) + 1], {})],
    "atanh": [([array(3) / 2], {})],
    "sinc": [([array(4)], {})],
    "deg2rad": [([array(3)], {})],
    "rad2deg": [([array(3)], {})],
}
