from __future__ import annotations

import autograd_viz as av

from . import Cases, array

CASES: Cases = {"to_copy": [([array(2)], {"dtype": av.float64})]}
