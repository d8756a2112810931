from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "complex_of": [([array(2, 3), array(2, 3)], {}), ([array(2, 1), array(3)], {})],
    "polar_of": [([positive(2, 3), array(2, 3)], {})],
    "view_as_complex": [([array(3, 2)], {}), ([array(2)], {})],
    "conjugate_copy": [([array(3)], {})],
}
WITHOUT = {"view_as_real": "its input is complex; it is part of every case whose result is"}
