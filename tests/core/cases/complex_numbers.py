"""A complex input cannot be stepped in one direction: the ops on complex numbers are tried behind and before real ones."""
from __future__ import annotations

from . import Cases, array, positive

CASES: Cases = {
    "complex_of": [([array(2, 3), array(2, 3)], {}), ([array(2, 1), array(3)], {})],
    "polar_of": [([positive(2, 3), array(2, 3)], {})],
    "view_as_complex": [([array(3, 2)], {}), ([array(2)], {})],
}
WITHOUT = {
    "view_as_real": "its input is complex; tried in every case whose result is",
    "conjugate_copy": "its input is complex; tried with ihfftn in test_fourier.py",
}
