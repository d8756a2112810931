from __future__ import annotations

from . import Cases, array

GEOMETRY = {"sizes": (2, 2), "strides": (2, 1), "start": 0, "size": (2, 2), "stride": (1, 1), "storage_offset": 1}

CASES: Cases = {
    "as_strided": [
        ([array(6)], {"size": (2, 3), "stride": (1, 2), "storage_offset": 0}),
        ([array(6)], {"size": (3, 2), "stride": (1, 1)}),
    ],
    "as_strided_in_place": [([array(6)], {"size": (2, 3), "stride": (1, 2), "storage_offset": 0})],
    "as_strided_backward": [([array(2, 2)], GEOMETRY)],
    "as_strided_read": [([array(2, 2)], GEOMETRY)],
}
