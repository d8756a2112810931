"""Linear layers and embeddings."""

from __future__ import annotations

import math
from typing import Any

from ..core.base.device import check_device
from ..core.tensor import Tensor, empty, refuse_if
from . import functional, init
from .module import Module
from .parameter import Parameter

__all__ = ["Bilinear", "Embedding", "EmbeddingBag", "Linear"]


def parameter(*size: int, dtype: Any = None, device: Any = None) -> Parameter:
    """An uninitialized parameter of this shape."""
    check_device(device)
    return Parameter(empty(*size, dtype=dtype))


def unusual(module: Module, usual: dict[str, Any]) -> str:
    """The options of a module that differ from their defaults, as `extra_repr` prints them after the sizes."""
    return "".join(f", {n}={getattr(module, n)}" for n, v in usual.items() if getattr(module, n) != v)


class Linear(Module):
    """x Wᵀ + b."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = parameter(out_features, in_features, dtype=dtype, device=device)
        self.register_parameter("bias", parameter(out_features, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(in_features)."""
        init.reset_like_linear(self.weight, self.bias)

    def forward(self, input: Tensor) -> Any:
        """x Wᵀ + b."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, with the class name that PyTorch's attention prints for its last layer."""


class Bilinear(Module):
    """x1ᵀ W x2 + b, with one matrix W per output."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        refuse_if(in1_features <= 0, lambda: f"in1_features must be > 0, but got {in1_features}", ValueError)
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = parameter(out_features, in1_features, in2_features, dtype=dtype, device=device)
        self.register_parameter("bias", parameter(out_features, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Any:
        """x1ᵀ W x2 + b."""
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Embedding(Module):
    """A table with one vector per index. The row `padding_idx` is not trained."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = row_index(padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = parameter(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight)
        self.weight.requires_grad_(not _freeze)

    def reset_parameters(self) -> None:
        """Standard normal numbers, and zeros in the padding row."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._data[self.padding_idx] = 0

    def forward(self, input: Tensor) -> Any:
        """The rows at these indices."""
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        """The sizes, and the options that differ from their defaults."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        return f"{self.num_embeddings}, {self.embedding_dim}{unusual(self, usual)}" + (", sparse=True" if self.sparse else "")

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, **options: Any) -> Any:
        """A table with these vectors, frozen by default. Raises AssertionError: `embeddings` is not a matrix."""
        refuse_if(embeddings.dim() != 2, "Embeddings parameter is expected to be 2-dimensional", AssertionError)
        rows, cols = embeddings.shape
        if cls is Embedding:
            options["padding_idx"] = padding_idx
        return cls(rows, cols, _weight=embeddings, _freeze=freeze, **options)


def row_index(index: int | None, rows: int) -> int | None:
    """The row at `index`, counted from the front. Raises AssertionError: out of range."""
    refuse_if(index is not None and not -rows <= index < rows, "Padding_idx must be within num_embeddings", AssertionError)
    return index + rows if index is not None and index < 0 else index


class EmbeddingBag(Module):
    """Sums, means or maxima of the vectors of several indices."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset, self.padding_idx = include_last_offset, row_index(padding_idx, num_embeddings)
        if _weight is None:
            self.weight = parameter(num_embeddings, embedding_dim, dtype=dtype, device=device)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)

    reset_parameters: Any = Embedding.reset_parameters

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Any:
        """One vector per bag of indices."""
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes, the options that differ from their defaults, and the mode."""
        options = unusual(self, {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False})
        mode = f", mode={self.mode!r}" + unusual(self, {"padding_idx": None})
        return f"{self.num_embeddings}, {self.embedding_dim}{options}{mode}"
