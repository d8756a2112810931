from __future__ import annotations

import autograd_viz as av

from . import Cases, array, positive

X, WEIGHT, BIAS = array(3, 2, 2), positive(2), array(2)
TRAINING = {"training": True, "momentum": 0.0, "eps": 0.1}  # with momentum 0 the averages stay as they are


def averages() -> dict[str, av.Tensor]:
    return {"running_mean": av.tensor(array(2)), "running_var": av.tensor(positive(2))}


EVALUATION = {**averages(), "training": False, "momentum": 0.1, "eps": 0.1}

CASES: Cases = {
    "native_batch_norm": [
        ([X, WEIGHT, BIAS], TRAINING),
        ([X, WEIGHT, BIAS], EVALUATION),
        ([array(4, 2)], {**averages(), **TRAINING}),
    ],
}
