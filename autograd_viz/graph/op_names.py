"""Names of ops: from the class name of a node to what users write."""

from __future__ import annotations

import re

_STEM = re.compile(r"Backward(?:\d|Autograd|$)")
_VARIANT = re.compile(r"^(?:Native|Cudnn|Miopen|Fused|Unsafe|Linalg)(?=[A-Z])")
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\dD)(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])")
CLEARER = {
    "where": "torch.where",  # it looks like an ordinary word in a sentence
    "argmax_dim": "argmax", "argmin_dim": "argmin", "max_pool2d_with_indices": "max_pool2d", "to_copy": "to",
}  # fmt: skip


def stem(name: str) -> str:
    """The op's name in a node's class name: ThresholdBackward in ThresholdBackwardBackward0."""
    found = _STEM.search(name)
    return name[: found.start()] if found is not None else name


def plain_name(op: str) -> str:
    """The op as users write it: log_softmax for LogSoftmax, batch_norm for NativeBatchNorm."""
    name = _WORD.sub("_", _VARIANT.sub("", op)).lower()
    return CLEARER.get(name, name)
