"""What the rules of nodes do with numbers, by the op's name; of a rule that is not here nothing is known."""

from __future__ import annotations

import re

from .facts import Facts
from .numbers import number

_STEM = re.compile(r"Backward(?:\d|Autograd|$)")
TWICE = "Backward"  # a stem that ends so is of a derivative's derivative

# They hand on what arrives, added up, spread out or in another order: no zeros, nan or inf of what has none.
LINEAR = frozenset({
    "Add", "Sub", "Rsub", "Neg", "View", "UnsafeView", "ReshapeAlias", "Reshape", "ReshapeCopy", "T", "Transpose", "Permute",
    "Movedim", "Sum", "Mean", "Expand", "Clone", "LazyClone", "Cat", "Stack", "Squeeze", "Unsqueeze", "AccumulateGrad",
    "ToCopy", "Alias", "Repeat", "Flip", "Roll", "Rot90", "Conj", "ConjPhysical", "NegView", "Lift", "LiftFresh", "PinMemory",
    "ViewAsReal", "ViewAsComplex", "PixelShuffle", "PixelUnshuffle", "ChannelShuffle", "Cumsum", "Deg2Rad", "Rad2Deg",
})  # fmt: skip
# They multiply by numbers that are not 0, unless these were infinite.
NEVER_ZERO = frozenset({
    "Sqrt", "Rsqrt", "Reciprocal", "Log", "Log2", "Log10", "Log1P", "Tan", "Sinh", "Asin", "Acos", "Asinh", "Acosh", "Atanh",
    "Erfinv", "Logit",
})  # fmt: skip
# They pass on some of what arrives, whatever the numbers are that they were given: no nan or inf of what has none.
CHOOSING = frozenset({
    "Relu", "Threshold", "Clamp", "ClampMin", "ClampMax", "Hardtanh", "Hardsigmoid", "LeakyRelu", "Where", "MaskedFill",
    "MaskedScatter", "Max", "Min", "Maximum", "Minimum", "Fmax", "Fmin", "Sort", "Topk", "Kthvalue", "Median",
    "Nanmedian", "Mode", "Cummax", "Cummin", "MaxPool2DWithIndices", "MaxPool3DWithIndices", "MaxPool2D", "AvgPool2D",
    "AvgPool3D", "AdaptiveMaxPool2D", "AdaptiveMaxPool3D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "Slice", "Select",
    "Index", "IndexSelect", "Gather", "Split", "SplitWithSizes", "UnsafeSplit", "UnsafeSplitWithSizes", "Chunk", "Unbind",
    "NarrowCopy", "MaskedSelect", "Take", "Diagonal", "DiagEmbed", "Trace", "Tril", "Triu", "AsStrided", "Embedding", "Unfold",
    "Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "ConstantPadNd", "ReflectionPad1D", "ReflectionPad2D", "ReplicationPad1D",
    "ReplicationPad2D", "Fill", "Zero", "Copy", "IndexAdd", "IndexCopy", "IndexFill", "IndexPut", "Scatter", "ScatterAdd",
    "CopySlices", "Im2Col", "Col2Im", "Bernoulli", "Softshrink", "Hardshrink",
})  # fmt: skip
# They write numbers of the user's among the elements.
WRITING = frozenset({
    "MaskedFill", "Where", "MaskedScatter", "Fill", "Copy", "ConstantPadNd", "IndexFill", "IndexPut", "IndexCopy", "Scatter",
    "CopySlices", "NanToNum",
})  # fmt: skip
# Products: of 0 and what is infinite they make nan.
PRODUCTS = frozenset({
    "Mul", "Mm", "Bmm", "Mv", "Dot", "Vdot", "Addmm", "Addmv", "Addr", "Baddbmm", "Addbmm", "Convolution", "Linear", "Ger",
    "Addcmul", "Lerp", "LinalgCross", "Trilinear", "Prod", "Cumprod", "ScaledDotProductFlashAttentionForCpu",
    "ScaledDotProductFlashAttention", "ScaledDotProductEfficientAttention",
})  # fmt: skip
# They multiply by numbers that are finite where what they were given is; so is their result.
BOUNDED = frozenset({
    "Sigmoid", "Tanh", "Gelu", "Silu", "Mish", "Softplus", "Elu", "Selu", "Celu", "LogSigmoid", "LogSigmoidForward",
    "Hardswish", "Sin", "Cos", "Atan", "Erf", "Erfc", "Abs", "Softmax", "LogSoftmax", "SafeSoftmax", "Logsumexp", "Logaddexp",
    "Glu", "PreluKernel", "Amax", "Amin", "Atan2", "Cdist", "Pdist", "NativeDropout", "FusedDropout", "LinalgVectorNorm",
    "Norm", "BinaryCrossEntropyWithLogits", "SoftMarginLoss", "Asinh", "Std", "Var", "StdMean", "VarMean",
})  # fmt: skip
LOSSES = frozenset({"MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BinaryCrossEntropy"})  # their mean of nothing is nan
NORMS = frozenset({
    "NativeBatchNorm", "NativeBatchNormLegit", "BatchNormWithUpdate", "CudnnBatchNorm", "MiopenBatchNorm", "NativeLayerNorm",
    "NativeGroupNorm", "FusedRmsNorm",
})  # fmt: skip


def stem(name: str) -> str:
    """The op's name in that of a node's class: ThresholdBackward in ThresholdBackwardBackward0."""
    found = _STEM.search(name)
    return name[: found.start()] if found is not None else name


def stem_of(f: Facts, node: str) -> str:
    """The op's name; of a Function of the user's nothing is known, whatever its name."""
    return "" if f.nodes[node].rule == "user" else stem(f.called(node))


def is_linear(f: Facts, node: str) -> bool:
    """It hands on what arrives, as it is or times a number that is known and is not 0."""
    scale = f.plain(node, "alpha")
    return stem_of(f, node) in LINEAR and (not scale or bool(number(scale)))
