"""Learning rate schedules: the rate as a function of the number of calls of `step`.

Most compute the next rate from the present one (`_lr_after`). So schedules can be combined: each changes the rates that the
others set.
"""

from .formulas import (  # isort: skip
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    OneCycleLR,
    PolynomialLR,
    StepLR,
)
from .scheduler import ChainedScheduler, LRScheduler, ReduceLROnPlateau, SequentialLR

_LRScheduler = LRScheduler  # the name before PyTorch 2.0

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
