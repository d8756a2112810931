"""Writing into a part of a copy: select_scatter, slice_scatter, diagonal_scatter."""
# fmt: off

from __future__ import annotations

from ..base.names import diagonal, zeros_like
from ..base.public import public
from ..op.primitive import primitive
from ..ops.shape.slicing import diagonal_view, select, slice_dim


def write(part, src) -> None:
    """Write `src` into a view of its shape."""
    if src.shape != part.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    part[...] = src


@public
@primitive("SelectScatterBackward0")
def select_scatter(self, src, *, dim, index):
    """A copy of self, with `src` as one slice along `dim`."""
    out = self.copy()
    write(select.forward(out, dim=dim, index=index), src)
    return out
select_scatter.defvjp(
    self = lambda grad, dim, index: select_scatter(grad, zeros_like(select(grad, dim=dim, index=index)), dim=dim, index=index),
    src  = lambda grad, dim, index: select(grad, dim=dim, index=index),
)


@public
@primitive("SliceScatterBackward0")
def slice_scatter(self, src, *, dim=0, start=None, end=None, step=1):
    """A copy of self, with `src` as every `step`-th slice from `start` to before `end`."""
    out = self.copy()
    write(slice_dim.forward(out, dim=dim, start=start, end=end, step=step), src)
    return out
slice_scatter.defvjp(
    self = lambda grad, dim, start, end, step:
        slice_scatter(grad, zeros_like(slice_dim(grad, dim=dim, start=start, end=end, step=step)),
                      dim=dim, start=start, end=end, step=step),
    src  = lambda grad, dim, start, end, step: slice_dim(grad, dim=dim, start=start, end=end, step=step),
)


@public
@primitive("DiagonalScatterBackward0")
def diagonal_scatter(self, src, *, offset=0, dim1=0, dim2=1):
    """A copy of self, with `src` as a diagonal."""
    out = self.copy()
    write(diagonal_view(out, offset, dim1, dim2), src)
    return out
diagonal_scatter.defvjp(
    self = lambda grad, offset, dim1, dim2:
        diagonal_scatter(grad, zeros_like(diagonal(grad, offset=offset, dim1=dim1, dim2=dim2)),
                         offset=offset, dim1=dim1, dim2=dim2),
    src  = lambda grad, offset, dim1, dim2: diagonal(grad, offset=offset, dim1=dim1, dim2=dim2),
)
