from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "mm": [([array(2, 3), array(3, 2)], {})],
    "mv": [([array(2, 3), array(3)], {})],
    "dot": [([array(3), array(3)], {})],
    "ger": [([array(2), array(3)], {})],
}
