from __future__ import annotations

from . import Cases, array

CASES: Cases = {
    "flip_dims": [([array(2, 3)], {"dims": (0, -1)})],
    "roll_dims": [([array(2, 3)], {"shifts": (1, 2), "dims": (0, -1)}), ([array(2, 3)], {"shifts": (2,), "dims": ()})],
    "rot90_dims": [([array(2, 3)], {"k": 1, "dims": (-1, 0)}), ([array(2, 3)], {"k": 2, "dims": (0, 1)})],
    "repeat_dims": [([array(2, 1)], {"repeats": (2, 1, 3)}), ([array()], {"repeats": (2,)})],
}
