"""Images in another size: each new element a weighted sum of the old ones around it, one dimension after the other."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..op.primitive import Primitive, primitive
from ..ops.layers.separable import along_each, transposed
from ..ops.layers.windows import brief
from .interpolation_weights import cubic, cubic_smoothed, linear, linear_smoothed, nearest, nearest_exact

_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


def _declare(name: str, node_name: str, n: int, weights: Callable[..., Any], aligns: bool = True) -> Primitive:
    """One interpolation of `n` dimensions and its gradient; `weights` gives the matrix of a dimension.

    The options are `output_size`, `align_corners` if it `aligns`, and a scale per dimension.
    """
    options = ("output_size", *(("align_corners",) if aligns else ()), *_SCALES[n])

    def makings(size, output_size, align_corners, scales):
        return [weights(*each, align_corners) for each in zip(size, output_size, scales, strict=True)]

    def forward(self, *, output_size, align_corners=False, **scales):
        return along_each(self, makings(self.shape[2:], output_size, align_corners, scales.values()))
    forward.__name__, forward.__doc__ = name, f"An image of another size: {weights.__doc__}"
    forward.__signature__ = _signature("self", options)

    def backward(grad_output, *, output_size, input_size, align_corners=False, **scales):
        size = tuple(input_size[2:])
        return along_each(grad_output, transposed(makings(size, output_size, align_corners, scales.values()), size))
    backward.__name__, backward.__doc__ = f"{name}_backward", "Each gradient shared out as the weights say."
    backward.__signature__ = _signature("grad_output", ("input_size", *options))

    def rule(grad, input_size, *values):
        return op_named(f"{name}_backward")(grad, input_size=input_size, **dict(zip(options, values, strict=True)))
    rule.__signature__ = _signature("grad", ("self_sym_sizes", *options))

    def rule_of_backward(grad, *values):
        return op_named(name)(grad, **dict(zip(options, values, strict=True)))
    rule_of_backward.__signature__ = _signature("grad", options)

    declared = primitive(f"{node_name}Backward0", written=brief(name))(forward)
    declared.defvjp(self=rule)
    primitive(f"{node_name}BackwardBackward0", written=brief(f"{name}_backward"))(backward).defvjp(grad_output=rule_of_backward)
    return declared


def _signature(first: str, options: tuple[str, ...]) -> inspect.Signature:
    """One tensor, and these options."""
    kind = inspect.Parameter
    return inspect.Signature([kind(first, kind.POSITIONAL_OR_KEYWORD), *(
        kind(o, kind.KEYWORD_ONLY, default=None if o.startswith("scales") else kind.empty) for o in options
    )])


upsample_nearest1d        = _declare("upsample_nearest1d", "UpsampleNearest1D", 1, nearest, aligns=False)
upsample_nearest2d        = _declare("upsample_nearest2d", "UpsampleNearest2D", 2, nearest, aligns=False)
upsample_nearest3d        = _declare("upsample_nearest3d", "UpsampleNearest3D", 3, nearest, aligns=False)
_upsample_nearest_exact1d = _declare("_upsample_nearest_exact1d", "UpsampleNearestExact1D", 1, nearest_exact, aligns=False)
_upsample_nearest_exact2d = _declare("_upsample_nearest_exact2d", "UpsampleNearestExact2D", 2, nearest_exact, aligns=False)
_upsample_nearest_exact3d = _declare("_upsample_nearest_exact3d", "UpsampleNearestExact3D", 3, nearest_exact, aligns=False)
upsample_linear1d         = _declare("upsample_linear1d", "UpsampleLinear1D", 1, linear)
upsample_bilinear2d       = _declare("upsample_bilinear2d", "UpsampleBilinear2D", 2, linear)
upsample_trilinear3d      = _declare("upsample_trilinear3d", "UpsampleTrilinear3D", 3, linear)
upsample_bicubic2d        = _declare("upsample_bicubic2d", "UpsampleBicubic2D", 2, cubic)
_upsample_bilinear2d_aa   = _declare("_upsample_bilinear2d_aa", "UpsampleBilinear2DAa", 2, linear_smoothed)
_upsample_bicubic2d_aa    = _declare("_upsample_bicubic2d_aa", "UpsampleBicubic2DAa", 2, cubic_smoothed)
