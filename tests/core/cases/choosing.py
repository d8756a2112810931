from __future__ import annotations

import numpy as np

from . import Cases, array, positive

CASES: Cases = {
    "where_tensors": [([array(2), array(2)], {"condition": np.array([True, False])})],
    "maximum": [([array(2, 3), positive(3) - 0.4], {})],
    "minimum": [([array(2, 3), positive(3) - 0.4], {})],
    "fmax": [([array(2, 3), positive(3) - 0.4], {})],
    "fmin": [([array(2, 3), positive(3) - 0.4], {})],
    "clamp_numbers": [([array(5)], b) for b in ({"min": 0.1}, {"max": 0.5}, {"min": 0.1, "max": 0.5})],
    "clamp_tensors": [([array(2, 4), array(4) + 0.1, positive(4) + 0.05], {})],
    "clamp_min_number": [([array(4)], {"min": 0.1})],
    "clamp_min_tensor": [([array(2, 4), array(4) + 0.1], {})],
    "clamp_max_number": [([array(4)], {"max": 0.1})],
    "clamp_max_tensor": [([array(2, 4), array(4) + 0.1], {})],
}
