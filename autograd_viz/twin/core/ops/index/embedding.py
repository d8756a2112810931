"""Lookup of rows in a table of weights. The gradient adds up in each row."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...op import public, public_primitive, row
from ...tensor import Tensor, check_tensor, refuse_if


def checked_indices(indices: Any, rows: int, op: str) -> Any:
    """The indices, if they are integers and in range."""
    if indices.dtype.name not in ("int64", "int32"):
        legacy = Tensor(indices).dtype.legacy
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{legacy}Tensor instead (while checking arguments for {op})"
        )
    refuse_if(np.any((indices < 0) | (indices >= rows)), "index out of range in self", IndexError)
    return indices


@public_primitive("torch.embedding", "EmbeddingBackward0")
def embedding(weight, *, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """weight[indices]. Raises RuntimeError: `weight` is not a matrix."""
    refuse_if(weight.ndim != 2, "'weight' must be 2-D")
    return weight[checked_indices(indices, len(weight), "embedding")]
embedding.defvjp(weight = lambda grad, indices, weight_sym_argsize_0, padding_idx, scale_grad_by_freq, sparse:
    embedding_dense_backward(grad, indices=indices, num_weights=weight_sym_argsize_0, padding_idx=padding_idx,
                             scale_grad_by_freq=scale_grad_by_freq))


@public_primitive("torch.embedding_dense_backward", "EmbeddingDenseBackwardBackward0")
def embedding_dense_backward(grad_output, *, indices, num_weights, padding_idx=-1, scale_grad_by_freq=False):
    """Add each row of grad_output to the row of weights that it came from, except the row `padding_idx`."""
    out = np.zeros((num_weights, grad_output.shape[-1]), grad_output.dtype)
    rows = grad_output.reshape(-1, grad_output.shape[-1])
    np.add.at(out, indices.reshape(-1), rows / often(indices) if scale_grad_by_freq else rows)
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out
embedding_dense_backward.defvjp(
    grad_output = lambda grad, indices, padding_idx: rows_but_padding(grad, indices=indices, padding_idx=padding_idx))


rows_but_padding = row("rows_but_padding", "EmbeddingBackward0", "weight[indices], with zeros for the row `padding_idx`.",
    lambda weight, *, indices, padding_idx: weight[indices] * (indices != padding_idx)[..., None],
    written=lambda weight, indices, padding_idx: weight[indices],
    weight = lambda grad, indices, padding_idx, weight_sym_argsize_0:
        embedding_dense_backward(grad, indices=indices, num_weights=weight_sym_argsize_0, padding_idx=padding_idx))


def often(indices: Any) -> Any:
    """The number of occurrences of each index, as a column."""
    _, places, counts = np.unique(indices, return_inverse=True, return_counts=True)
    return counts[places.reshape(-1)][:, None]


one_hot_rows = row("one_hot_rows", "", "1 at the place of the class, else 0.",
    lambda self, *, num_classes: (self[..., None] == np.arange(num_classes)).astype(np.int64))


# fmt: on
@public("nn.functional.one_hot")
def one_hot(tensor: Tensor, num_classes: int = -1) -> Any:
    """A one-hot row for each class number. Raises RuntimeError: the numbers are not int64, or out of range."""
    refuse_if(tensor.dtype.name != "int64", "one_hot is only applicable to index tensor of type LongTensor.")
    refuse_if(not tensor.numel() and num_classes <= 0, "Can not infer total number of classes from empty tensor.")
    refuse_if(tensor.numel() and tensor._data.min() < 0, "Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(tensor._data.max()) + 1
    refuse_if(tensor.numel() and tensor._data.max() >= num_classes, "Class values must be smaller than num_classes.")
    return one_hot_rows(tensor, num_classes=num_classes)


def renorm_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the looked-up rows down to the norm `max_norm`, in place and not recorded."""
    rows = np.unique(indices._data)
    lengths = np.linalg.norm(weight._data[rows], norm_type, axis=1, keepdims=True)
    weight._data[rows] *= np.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1).astype(weight._data.dtype)
    weight._bump_version()


@public("nn.functional.embedding")
def embedding_of(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """The rows of `weight` at these indices; the row `padding_idx` gets no gradient. Raises IndexError: out of range."""
    check_tensor("embedding", input, "indices", 2)
    rows = weight.shape[0] if weight.ndim else 0
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    padding = -1 if padding_idx is None else padding_idx % rows
    if max_norm is not None:
        renorm_rows(weight, input, max_norm, norm_type)
    return embedding(weight, indices=input, padding_idx=padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
