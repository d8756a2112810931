from __future__ import annotations

from . import Cases, array

OPTIONS = [
    {"dim": (0,)},
    {"dim": (0, 1), "correction": 0, "keepdim": True},
    {"dim": None, "correction": 2},
]

CASES: Cases = {
    name: [([array(3, 2)], options) for options in OPTIONS]
    for name in ("var_dims", "std_dims", "var_mean_dims", "std_mean_dims")
}
