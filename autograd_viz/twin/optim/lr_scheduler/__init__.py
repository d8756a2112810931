"""Learning rate schedules. Most compute the next rate from the present one, so they can be combined."""

from .formulas import ConstantLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR  # isort: skip
from .formulas import ExponentialLR, LambdaLR, LinearLR, MultiplicativeLR, MultiStepLR, OneCycleLR, PolynomialLR, StepLR
from .scheduler import ChainedScheduler, LRScheduler, ReduceLROnPlateau, SequentialLR

_LRScheduler = LRScheduler  # the name before PyTorch 2.0

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
