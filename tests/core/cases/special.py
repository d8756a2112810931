from __future__ import annotations

from . import Cases, array, positive

SHARES = (array(4) - 0.1) / 4 + 0.5  # between 0 and 1

CASES: Cases = {
    "erf": [([array(3)], {})],
    "erfc": [([array(3)], {})],
    "erfcx": [([array(3)], {})],
    "erfinv": [([array(3) / 2], {})],
    "ndtri": [([SHARES], {})],
    "log_ndtr": [([array(3)], {})],
    "lgamma": [([positive(3)], {})],
    "digamma": [([positive(3)], {})],
    "polygamma_order": [([positive(3)], {"n": n}) for n in (0, 1, 2)],
    "logit": [([SHARES], {}), ([SHARES], {"eps": 0.3})],
    "entr": [([positive(3)], {})],
    "xlogy_tensors": [([array(2, 3), positive(3)], {})],
    "xlogy_of_number": [([positive(3)], {"self": 2.0})],
    "xlogy_number": [([array(3)], {"other": 2.5})],
}
