from __future__ import annotations

import numpy as np

from . import Cases, array, positive

WIDE = 3 * array(5)
SOFTPLUS = {"beta": 2, "threshold": 4}
ELU = {"alpha": 1.5, "scale": 1.2, "input_scale": 0.7}

CASES: Cases = {
    "sigmoid": [([array(3)], {})],
    "sigmoid_backward": [([array(3), array(3)], {})],
    "tanh": [([array(3)], {})],
    "tanh_backward": [([array(3), array(3)], {})],
    "softplus": [([WIDE], SOFTPLUS)],
    "softplus_backward": [([array(5), WIDE], SOFTPLUS)],
    "silu_of": [([WIDE], {})],
    "mish_of": [([WIDE], {})],
    "elu_of": [([array(4)], ELU)],
    "elu_backward": [([array(4), array(4)], ELU)],
    "celu_of": [([array(4)], {"alpha": 1.5})],
    "glu_of": [([array(4)], {"dim": 0}), ([array(2, 4)], {"dim": -1}), ([array(2, 3)], {"dim": 0})],
    "glu_backward": [([array(2), array(4)], {"dim": -1}), ([array(1, 3), array(2, 3)], {"dim": 0})],
    "gelu": [([array(4)], {"approximate": a}) for a in ("none", "tanh")],
    "gelu_backward": [([array(4), array(4)], {"approximate": a}) for a in ("none", "tanh")],
    "relu": [([array(4)], {})],
    "threshold_of": [([array(4)], {"threshold": 0.1, "value": 2.0})],
    "threshold_backward": [([array(3), array(3)], {"threshold": 0.1})],
    "leaky_relu_of": [([array(4)], {"negative_slope": 0.3})],
    "leaky_relu_backward": [([array(4), array(4)], {"negative_slope": 0.3})],
    "prelu_kernel": [([array(2, 4), positive(4)], {})],
    "rrelu_with_noise": [
        ([array(4)], {"noise": np.array([1.0, 1.0, 1.0, 0.3]), "lower": 0.1, "upper": 0.4, "training": training})
        for training in (True, False)
    ],
    "hardtanh_of": [([array(4)], {"min_val": -0.1, "max_val": 0.5})],
    "hardtanh_backward": [([array(4), array(4)], {"min_val": -0.1, "max_val": 0.5})],
    "hardsigmoid_of": [([WIDE], {})],
    "hardswish_of": [([WIDE], {})],
    "hardswish_backward": [([array(5), WIDE], {})],
    "hardshrink": [([array(4)], {"lambd": 0.5})],
    "softshrink": [([array(4)], {"lambd": 0.3})],
    "shrink_backward": [([array(4), array(4)], {"lambd": 0.5})],
}
WITHOUT = {
    "log_sigmoid_forward": "its buffer is part of what it saves: tests/core/test_elementwise.py",
    "log_sigmoid_backward": "runs in the second derivative of logsigmoid: tests/core/test_elementwise.py",
}
