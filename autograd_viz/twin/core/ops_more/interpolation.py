"""Resizing of images: each new element is a weighted sum of old ones, one dimension after the other."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.names import op_named
from ..op.primitive import Primitive
from ..ops.layers.windows import along_each, brief, op, transposed, with_signature
from .interpolation_weights import cubic, cubic_smoothed, linear, linear_smoothed, nearest, nearest_exact

_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


def _declare(name: str, node_name: str, n: int, weights: Callable[..., Any], aligns: bool = True) -> Primitive:
    """One interpolation of `n` dimensions, with its gradient. `weights` gives the matrix of a dimension.

    The options are `output_size`, `align_corners` if `aligns`, and a scale per dimension.
    """
    options = ("output_size", *(("align_corners",) if aligns else ()), *_SCALES[n])
    defaults = {o: None if o.startswith("scales") else Primitive.required for o in options}
    back = f"{name}_backward"

    def makings(size, output_size, align_corners, scales):
        return [weights(*each, align_corners) for each in zip(size, output_size, scales, strict=True)]

    def forward(self, *, output_size, align_corners=False, **scales):
        return along_each(self, makings(self.shape[2:], output_size, align_corners, scales.values()))
    forward.__doc__ = f"An image of another size. A new element is {weights.__doc__}"

    def backward(grad_output, *, output_size, input_size, align_corners=False, **scales):
        """Each gradient, distributed by the same weights."""
        size = tuple(input_size[2:])
        return along_each(grad_output, transposed(makings(size, output_size, align_corners, scales.values()), size))

    def rule(grad, input_size, *values):
        return op_named(back)(grad, input_size=input_size, **dict(zip(options, values, strict=True)))

    def rule_of_backward(grad, *values):
        return op_named(name)(grad, **dict(zip(options, values, strict=True)))

    declared = op(n, f"{node_name}Backward0", name, written=brief(name))(with_signature(forward, "self", **defaults))
    declared.defvjp(self=with_signature(rule, "grad", "self_sym_sizes", *options))
    with_signature(backward, "grad_output", input_size=Primitive.required, **defaults)
    op(n, f"{node_name}BackwardBackward0", back, written=brief(back))(backward).defvjp(
        grad_output = with_signature(rule_of_backward, "grad", *options),
    )
    return declared


NEAREST = {n: _declare(f"upsample_nearest{n}d", f"UpsampleNearest{n}D", n, nearest, aligns=False) for n in (1, 2, 3)}
NEAREST_EXACT = {
    n: _declare(f"_upsample_nearest_exact{n}d", f"UpsampleNearestExact{n}D", n, nearest_exact, aligns=False) for n in (1, 2, 3)
}
upsample_linear1d       = _declare("upsample_linear1d", "UpsampleLinear1D", 1, linear)
upsample_bilinear2d     = _declare("upsample_bilinear2d", "UpsampleBilinear2D", 2, linear)
upsample_trilinear3d    = _declare("upsample_trilinear3d", "UpsampleTrilinear3D", 3, linear)
upsample_bicubic2d      = _declare("upsample_bicubic2d", "UpsampleBicubic2D", 2, cubic)
_upsample_bilinear2d_aa = _declare("_upsample_bilinear2d_aa", "UpsampleBilinear2DAa", 2, linear_smoothed)
_upsample_bicubic2d_aa  = _declare("_upsample_bicubic2d_aa", "UpsampleBicubic2DAa", 2, cubic_smoothed)
