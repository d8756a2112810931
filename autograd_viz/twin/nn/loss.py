"""Losses. Each is a function of torch.nn.functional with its options."""
# fmt: off
# tables of layers: the function, a docstring, the options

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

from ..core.tensor import Tensor, refuse_if
from . import functional
from .configured import Configured, layer
from .module import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelSoftMarginLoss",
    "MultiMarginLoss", "NLLLoss", "PairwiseDistance", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]

OLD = ("size_average", "reduce")  # PyTorch's old form of `reduction`


class _Loss(Configured):
    """Prints no options, stores only `reduction`, and keeps weights as buffers."""
    shown = ()
    reduction: str

    def __post_init__(self) -> None:
        average, reduce = (vars(self).pop(name, None) for name in OLD)
        if average is not None or reduce is not None:
            self.reduction = "none" if reduce is False else "sum" if average is False else "mean"
        self._options = tuple(name for name in self._options if name not in OLD)
        for name in ("weight", "pos_weight"):
            if name in self._options:
                weight = getattr(self, name)
                delattr(self, name)
                self.register_buffer(name, weight)

@layer()
class _OfNumbers(_Loss):
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

@layer()
class _Weighted(_Loss):
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

@layer()
class _OfClasses(_Loss):
    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"

@layer()
class _OfPairs(_Loss):
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

@layer("l1_loss")
class L1Loss(_OfNumbers): """|input - target|."""

@layer("mse_loss")
class MSELoss(_OfNumbers): """(input - target)²."""

@layer("smooth_l1_loss")
class SmoothL1Loss(_OfNumbers):
    """Quadratic within `beta` of the target, linear beyond."""
    beta: float = 1.0

@layer("huber_loss")
class HuberLoss(_Loss):
    """SmoothL1Loss times `delta`."""
    reduction: str = "mean"
    delta: float = 1.0

@layer("nll_loss")
class NLLLoss(_OfClasses): """-input at the target class. `input` holds log-probabilities."""

@layer("cross_entropy")
class CrossEntropyLoss(_OfClasses):
    """-log softmax(input) at the target class, or weighted by the target's probabilities."""
    label_smoothing: float = 0.0

@layer("poisson_nll_loss")
class PoissonNLLLoss(_Loss):
    """-log of the probability of the target under a Poisson distribution with this rate."""
    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"

@layer("gaussian_nll_loss")
class GaussianNLLLoss(_Loss):
    """-log of the density of the target under a normal distribution with this mean and variance."""
    _: KW_ONLY
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

@layer("kl_div")
class KLDivLoss(_OfNumbers):
    """target * (log target - input)."""
    log_target: bool = False

@layer("binary_cross_entropy")
class BCELoss(_Weighted): """-(target * log input + (1 - target) * log(1 - input))."""

@layer("binary_cross_entropy_with_logits")
class BCEWithLogitsLoss(_Weighted):
    """BCELoss of sigmoid(input)."""
    pos_weight: Tensor | None = None

@layer("hinge_embedding_loss")
class HingeEmbeddingLoss(_OfPairs):
    """input if the target is 1, max(0, margin - input) if it is -1."""
    margin: float = 1.0

@layer("cosine_embedding_loss")
class CosineEmbeddingLoss(_OfPairs): """1 - cos if the target is 1, max(0, cos - margin) if it is -1."""

@layer("margin_ranking_loss")
class MarginRankingLoss(_OfPairs): """max(0, -target * (input1 - input2) + margin)."""

@layer("soft_margin_loss")
class SoftMarginLoss(_OfNumbers): """log(1 + exp(-target * input))."""

@layer("multilabel_soft_margin_loss")
class MultiLabelSoftMarginLoss(_Weighted): """BCEWithLogitsLoss, averaged over the classes."""

@layer("multi_margin_loss")
class MultiMarginLoss(_Loss):
    """The score of the right class should be `margin` above all others."""
    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def __post_init__(self) -> None:
        refuse_if(self.p not in (1, 2), "only p == 1 and p == 2 supported", ValueError)
        super().__post_init__()

@layer("triplet_margin_loss")
class TripletMarginLoss(_Loss):
    """max(0, distance to the positive - distance to the negative + margin)."""
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def __post_init__(self) -> None:
        if self.margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead")
        super().__post_init__()

@layer("triplet_margin_with_distance_loss")
class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with the given distance function."""
    _: KW_ONLY
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def __post_init__(self) -> None:
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()
        super().__post_init__()

@layer("ctc_loss")
class CTCLoss(_Loss):
    """-log of the total probability of all ways to read a sequence as the target."""
    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False


@layer("cosine_similarity")
class CosineSimilarity(Configured):
    """The cosine of the angle between two vectors, along `dim`."""
    dim: int = 1
    eps: float = 1e-8
    shown = ()


# fmt: on
class PairwiseDistance(Module):
    """The p-norm of the difference of two vectors."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        """Along the last dimension."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
