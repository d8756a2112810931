"""Losses: how far the output is from the target. Each is a function of torch.nn.functional with its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor.tensor import Tensor
from . import functional
from .configured import Configured
from .module import Module


class _Loss(Configured):
    """Prints no options; `size_average` and `reduce` are PyTorch's old way to say `reduction`."""

    shown = ()

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", **options: Any
    ) -> None:
        if size_average is not None or reduce is not None:
            reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        super().__init__(**options, reduction=reduction)


class _WeightedLoss(_Loss):
    """With a weight per class (or per element), which is a buffer."""

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean", **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction, **options)
        self.register_buffer("weight", weight)
        self._options = ("weight", *self._options)


class L1Loss(_Loss):
    """|input - target|."""

    function = "l1_loss"


class MSELoss(_Loss):
    """(input - target)²."""

    function = "mse_loss"


class SmoothL1Loss(_Loss):
    """A parabola within `beta` of the target, straight lines beyond."""

    function = "smooth_l1_loss"

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction, beta=beta)


class HuberLoss(_Loss):
    """SmoothL1Loss times `delta`."""

    function = "huber_loss"

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction, delta=delta)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(input) at the target class (or weighted by the target's probabilities)."""

    function = "cross_entropy"

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction, ignore_index=ignore_index, label_smoothing=label_smoothing)


class NLLLoss(_WeightedLoss):
    """-input at the target class; input holds logarithms of probabilities."""

    function = "nll_loss"

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction, ignore_index=ignore_index)


class PoissonNLLLoss(_Loss):
    """-log of the probability that a Poisson process of this rate shows the target."""

    function = "poisson_nll_loss"

    def __init__(
        self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction, log_input=log_input, full=full, eps=eps)


class GaussianNLLLoss(_Loss):
    """-log of the density of a normal distribution with this mean and variance at the target."""

    function = "gaussian_nll_loss"

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction, full=full, eps=eps)


class KLDivLoss(_Loss):
    """target * (log target - input)."""

    function = "kl_div"

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", log_target: bool = False
    ) -> None:
        super().__init__(size_average, reduce, reduction, log_target=log_target)


class BCELoss(_WeightedLoss):
    """-(target * log input + (1 - target) * log(1 - input))."""

    function = "binary_cross_entropy"


class BCEWithLogitsLoss(_WeightedLoss):
    """BCELoss of sigmoid(input)."""

    function = "binary_cross_entropy_with_logits"

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean", pos_weight: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)
        self._options = (*self._options, "pos_weight")


class HingeEmbeddingLoss(_Loss):
    """input where the target is 1, max(0, margin - input) where it is -1."""

    function = "hinge_embedding_loss"

    def __init__(
        self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction, margin=margin)


class CosineEmbeddingLoss(_Loss):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""

    function = "cosine_embedding_loss"

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction, margin=margin)


class MarginRankingLoss(_Loss):
    """max(0, -target * (input1 - input2) + margin)."""

    function = "margin_ranking_loss"

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction, margin=margin)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input))."""

    function = "soft_margin_loss"


class MultiLabelMarginLoss(_Loss):
    """Every label's score should be 1 above all other scores."""

    function = "multilabel_margin_loss"


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """BCEWithLogitsLoss, the mean over the classes."""

    function = "multilabel_soft_margin_loss"


class MultiMarginLoss(_WeightedLoss):
    """The right class's score should be `margin` above all others."""

    function = "multi_margin_loss"

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        super().__init__(weight, size_average, reduce, reduction, p=p, margin=margin)


class TripletMarginLoss(_Loss):
    """max(0, distance to the positive - distance to the negative + margin)."""

    function = "triplet_margin_loss"

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, size_average: bool | None = None,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        super().__init__(size_average, reduce, reduction, margin=margin, p=p, eps=eps, swap=swap)


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance of one's own."""

    function = "triplet_margin_with_distance_loss"

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        distance = PairwiseDistance() if distance_function is None else distance_function
        super().__init__(reduction=reduction, distance_function=distance, margin=margin, swap=swap)


class CTCLoss(_Loss):
    """-log of the probability of all ways to read a sequence as the target."""

    function = "ctc_loss"

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction, blank=blank, zero_infinity=zero_infinity)


class CosineSimilarity(Module):
    """The cosine of the angle between two vectors."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        """Along `dim`."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of the difference of two vectors."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        """Along the last dimension."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
