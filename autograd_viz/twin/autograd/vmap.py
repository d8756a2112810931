"""vmap: a function of examples as a function of batches. The examples are computed one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.ops.shape.joining import stack
from ..core.tensor.random import default_generator
from ..core.tensor.tensor import Tensor
from .trees import filled, leaves

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def _spread(dims: Any, tree: Any, refusal: str) -> list[Any]:
    """The dimension of each leaf of the nest. One number holds for all leaves below it."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves(tree))
    parts = list(tree.values()) if isinstance(tree, dict) else tree
    own = list(dims.values()) if isinstance(dims, dict) else dims
    if not isinstance(parts, list | tuple) or not isinstance(own, list | tuple) or len(own) != len(parts):
        raise ValueError(refusal)
    return [d for one, part in zip(own, parts, strict=True) for d in _spread(one, part, refusal)]


def _check(inputs: list[Any], dims: list[Any], said: str) -> int:
    """The length of the batch.

    Raises:
        ValueError: nothing is mapped, or what is mapped has no such dimension, or lengths differ.
    """
    for x, dim in zip(inputs, dims, strict=True):
        if dim is not None and not isinstance(x, Tensor):
            raise ValueError(
                f"{said}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if dim is not None and not -x.dim() <= dim < x.dim():
            raise ValueError(
                f"{said}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected "
                f"in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
    sizes = [x.shape[dim] for x, dim in zip(inputs, dims, strict=True) if dim is not None]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    if not sizes or not sizes[0]:
        raise ValueError(f"{said}there is nothing to map over: no in_dim, or a batch of length 0")
    return int(sizes[0])


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function of batches that calls `func` for each example, and stacks the results.

    Args:
        func: from tensors, or nests of them, to tensors.
        in_dims: the batch dimension of each argument; None for an argument that all examples share.
        out_dims: where the batch dimension of each result is put.
        randomness: "error" refuses random numbers, "same" gives all examples the same, "different" other ones.
        chunk_size: no effect.

    Raises:
        ValueError: the dimensions do not fit, or a result is not a tensor; in PyTorch's words.
    """
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        said = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
        dims = _spread(in_dims, args, f"{said}in_dims is not compatible with the structure of inputs.")
        dims += [0] * len(leaves(kwargs))
        inputs = leaves((args, kwargs))
        results = []
        for i in range(_check(inputs, dims, said)):
            before = default_generator.get_state()
            parts = [x if dim is None else x.select(dim, i) for x, dim in zip(inputs, dims, strict=True)]
            own_args, own_kwargs = filled((args, kwargs), parts)
            results.append(func(*own_args, **own_kwargs))
            if randomness == "error" and (default_generator.get_state()._data != before._data).any():
                raise RuntimeError(_RANDOM)
            if randomness == "same":
                default_generator.set_state(before)
        for x in leaves(results[0]):
            if not isinstance(x, Tensor):
                advice = "Did you mean to set out_dims= to None for output?"
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. {advice}")
        ends = _spread(out_dims, results[0], f"vmap({name}, ...): out_dims is not compatible with the structure of outputs.")
        columns = zip(*map(leaves, results), strict=True)
        stacked = [rows[0] if end is None else stack(list(rows), end) for rows, end in zip(columns, ends, strict=True)]
        return filled(results[0], stacked)

    return batched
