"""Bags of rows of a table of weights: their sum, mean or maximum. The single rows are not stored."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import primitive, public
from ..ops.index.embedding import checked_indices, often, renorm_rows
from ..tensor import Tensor, refuse_if

SUM, MEAN, MAX = range(3)  # the modes, as nodes save them


@primitive("EmbeddingBagBackward0", results=("output", "offset2bag", "bag_size", "max_indices"))
def embedding_bags(
    weight, per_sample_weights=None, *, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False,
    include_last_offset=False, padding_idx=-1
):
    """The sum, mean or maximum of the rows of each bag; the bag of each index, the sizes, and the indices of the maxima."""
    checked_indices(indices, len(weight), "embedding_bag")
    bags = len(offsets) - 1 if include_last_offset else len(offsets)
    bag_of = np.searchsorted(offsets[:bags], np.arange(len(indices)), side="right") - 1
    counted = indices != padding_idx
    rows = weight[indices] if per_sample_weights is None else weight[indices] * per_sample_weights[:, None]
    sizes, out = np.zeros(bags, np.int64), np.zeros((bags, weight.shape[1]), weight.dtype)
    np.add.at(sizes, bag_of[counted], 1)
    if mode == MAX:
        largest = np.zeros(out.shape, np.int64)
        for b in range(bags):
            inside = np.flatnonzero((bag_of == b) & counted)
            if len(inside):
                out[b], largest[b] = rows[inside].max(0), indices[inside[rows[inside].argmax(0)]]
        return out, bag_of, sizes, largest
    np.add.at(out, bag_of[counted], rows[counted])
    if mode == MEAN:
        out /= np.maximum(sizes, 1)[:, None].astype(weight.dtype)
    return out, bag_of, sizes, sizes
embedding_bags.defvjp(
    weight = lambda grad, indices, offsets, weight_sym_argsize_0, per_sample_weights, result1, result2, result3,
                    scale_grad_by_freq, mode, sparse, padding_idx:
        embedding_bag_backward(grad, indices=indices, offset2bag=result1, bag_size=result2, maximum_indices=result3,
                               num_weights=weight_sym_argsize_0, per_sample_weights=per_sample_weights, mode=mode,
                               scale_grad_by_freq=scale_grad_by_freq, padding_idx=padding_idx),
    per_sample_weights = lambda grad, weight, indices, result1, padding_idx:
        per_sample_weights_backward(grad, weight, indices=indices, offset2bag=result1, padding_idx=padding_idx))


@primitive()
def embedding_bag_backward(
    grad, *, indices, offset2bag, bag_size, maximum_indices, num_weights, per_sample_weights, mode, scale_grad_by_freq,
    padding_idx
):
    """The gradient of the rows. A sum passes its bag's gradient on, a mean divides it, a maximum has it at its index."""
    out = np.zeros((num_weights, grad.shape[1]), grad.dtype)
    if mode == MAX:
        filled = bag_size > 0
        np.add.at(out, (maximum_indices[filled], np.arange(grad.shape[1])[None, :]), grad[filled])
        return out
    rows = (grad / np.maximum(bag_size, 1)[:, None] if mode == MEAN else grad)[offset2bag]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[:, None]
    if scale_grad_by_freq:
        rows = rows / often(indices)
    counted = indices != padding_idx
    np.add.at(out, indices[counted], rows[counted])
    return out


@primitive()
def per_sample_weights_backward(grad, weight, *, indices, offset2bag, padding_idx):
    """For each index, the dot product of its bag's gradient and its row."""
    return (grad[offset2bag] * weight[indices]).sum(1) * (indices != padding_idx)


def as_bags(input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The indices as a vector, the start of each bag, and the weights as a vector."""
    if input.ndim == 2:
        refuse_if(offsets is not None, lambda:
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
            f"However, found offsets of type {type(offsets)}", ValueError)
        starts = Tensor(np.arange(0, input.numel(), input.shape[1], dtype=input._data.dtype))
        return input.reshape(-1), starts, None if per_sample_weights is None else per_sample_weights.reshape(-1)
    refuse_if(input.ndim != 1, lambda: f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}", ValueError)
    if offsets is None or offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    return input, offsets, per_sample_weights


def check_offsets(offsets: Tensor, length: int) -> None:
    """Refuse offsets that do not begin with 0, or that lie beyond the end."""
    first, last = int(offsets._data[0]), int(offsets._data[-1])
    refuse_if(first != 0, lambda:
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
        f"However, got {first}")
    if last > length:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {last}")


def check_weight(input: Tensor, weight: Tensor, per_sample_weights: Tensor | None) -> None:
    """Refuse weights that do not fit the input."""
    refuse_if(per_sample_weights is not None and input.shape != per_sample_weights.shape, lambda:
        f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape "
        f"as the input ({input.shape})", ValueError)
    refuse_if(weight.ndim != 2, lambda: f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}", ValueError)


def padding_row(padding_idx: int | None, rows: int) -> int:
    """The row that is not counted, from the front; -1 for none."""
    if padding_idx is None:
        return -1
    refuse_if(not -rows <= padding_idx < rows, lambda:
        f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}")
    return padding_idx % rows


@public("nn.functional.embedding_bag")
def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """The sum, mean or maximum of bags of rows of `weight`. Raises ValueError, RuntimeError, IndexError: they do not fit."""
    check_weight(input, weight, per_sample_weights)
    include_last_offset = include_last_offset and input.ndim == 1
    input, starts, per_sample_weights = as_bags(input, offsets, per_sample_weights)
    refuse_if(mode not in ("sum", "mean", "max"), "mode has to be one of sum, mean or max", ValueError)
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if max_norm is not None:
        renorm_rows(weight, input, max_norm, norm_type)
    refuse_if(per_sample_weights is not None and mode != "sum", lambda:
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
        f"mode='{mode}'). Please open a feature request on GitHub.", NotImplementedError)
    check_offsets(starts, input.numel())
    return embedding_bags(
        weight, per_sample_weights, indices=input, offsets=starts, scale_grad_by_freq=scale_grad_by_freq,
        mode=("sum", "mean", "max").index(mode), sparse=sparse, include_last_offset=include_last_offset,
        padding_idx=padding_row(padding_idx, weight.shape[0]),
    )[0]  # fmt: skip
