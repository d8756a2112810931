from __future__ import annotations

from . import Cases, array, positive

X = array(2, 3, 2)


CASES: Cases = {
    "layer_normalization": [
        ([X], {"normalized_shape": (2,), "eps": 0.1}),
        ([X, positive(3, 2), array(3, 2)], {"normalized_shape": (3, 2), "eps": 1e-5}),
    ],
    "group_normalization": [
        ([array(2, 4, 2), positive(4), array(4)], {"N": 2, "C": 4, "HxW": 2, "group": 2, "eps": 0.1}),
        ([array(1, 2, 2, 2)], {"N": 1, "C": 2, "HxW": 4, "group": 1, "eps": 1e-5}),
    ],
}
WITHOUT = {
    "known_mean": "a step of the norms' second derivatives: the cases of layer_normalization and its like run it",
    "known_rstd": "a step of the norms' second derivatives: the cases of layer_normalization and its like run it",
}
