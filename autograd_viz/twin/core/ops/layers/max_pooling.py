"""Max pooling: the largest element of each window, and its index. Only that element gets the gradient."""
# fmt: off

from __future__ import annotations

from typing import Any

from ...base.names import gather_in_planes, op_named, zeros_like
from ...base.symbol import call
from ...op.primitive import Primitive
from ...op.row import row
from .planes import put, scattered
from .sized import Maker, asking, op
from .window_search import adaptive_boxes, largest, largest_of_boxes


def _sliding(n: int) -> Any:
    def forward(self, *, kernel_size, stride, padding, dilation, ceil_mode):
        """The largest element of each window of {one}, and its index."""
        return largest(self, kernel_size, stride or kernel_size, padding, dilation, ceil_mode)
    return forward


def _adaptive(n: int) -> Any:
    def forward(self, *, output_size):
        """The largest element of each window, and its index; `output_size` gives the number of windows."""
        return largest_of_boxes(self, *adaptive_boxes(self.shape[-n:], output_size))
    return forward


def _declare(n: int, make: Maker, pool: str, name: str, node_name: str, *kept: str) -> Primitive:
    """Declare a pooling and its gradient, which the indices determine. `kept` names other options that PyTorch's node has."""
    pool, back = pool.format(n=n), f"{pool.format(n=n)}_backward"
    forward = op(n, f"{node_name}Backward0", name, results=("result0", "result1"))(make(n))
    forward.defvjp(
        self = asking(lambda grad, self, result1, *_: op_named(back)(grad, self, indices=result1),
                      "grad", "self", "result1", *kept),
    )
    def backward(grad_output, self, *, indices):
        """Each gradient at the index of its window's largest element."""
        return scattered(grad_output, indices, self.shape[-n:])
    shown = {"written": lambda grad_output, self, indices: call("scatter", grad_output, indices)}
    op(n, f"{node_name}BackwardBackward0", back, **shown)(backward).defvjp(
        grad_output = lambda grad, indices: gather_in_planes(grad, indices=indices, n=n),
        self        = lambda grad: zeros_like(grad),
    )
    return forward
MAX_POOL = {
    n: _declare(n, _sliding, "max_pool{n}d", "max_pool{n}d_with_indices", "MaxPool{n}DWithIndices",
                "kernel_size", "stride", "padding", "dilation", "ceil_mode")
    for n in (2, 3)
}
ADAPTIVE_MAX_POOL = {
    n: _declare(n, _adaptive, "adaptive_max_pool{n}d", "adaptive_max_pool{n}d_to", "AdaptiveMaxPool{n}D") for n in (2, 3)
}


max_unpool2d_to = row("max_unpool2d_to", "MaxUnpool2DBackward0", "Each element at its index, zeros elsewhere.",
    lambda self, *, indices, output_size: put(self, indices, output_size),
    self = lambda grad, indices: gather_in_planes(grad, indices=indices, n=2))
max_unpool3d_to = row("max_unpool3d_to", "MaxUnpool3DBackward0", "Each element at its index, zeros elsewhere.",
    lambda self, *, indices, output_size, stride, padding: put(self, indices, output_size),
    self = lambda grad, indices: gather_in_planes(grad, indices=indices, n=3))
