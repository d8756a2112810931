"""Multi-head attention: each position gets the mean of all values, weighted by how well its query matches their keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.base.dtypes import float32
from ..core.tensor.tensor import Tensor
from . import functional, init
from .linear import NonDynamicallyQuantizableLinear, parameter
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """softmax(q kᵀ / sqrt(d)) v in several heads. Each head has a part of the features.

    Args:
        embed_dim: the number of features.
        num_heads: must divide `embed_dim`.
        dropout: of the weights, in training.
        bias: add one in the projections.
        add_bias_kv: a learned key and value at the end of the sequence.
        add_zero_attn: a key and value of zeros at the end.
        kdim: features of the keys; default: `embed_dim`.
        vdim: features of the values; default: `embed_dim`.
        batch_first: sequences are (batch, time, features).
        device: the CPU.
        dtype: the type of the parameters.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = kdim if kdim is not None else embed_dim, vdim if vdim is not None else embed_dim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        made = {"dtype": dtype, "device": device}
        same = self.kdim == embed_dim and self.vdim == embed_dim
        self._qkv_same_embed_dim = same
        for name, width in (("q_proj_weight", embed_dim), ("k_proj_weight", self.kdim), ("v_proj_weight", self.vdim)):
            self.register_parameter(name, None if same else parameter(embed_dim, width, **made))
        self.register_parameter("in_proj_weight", parameter(3 * embed_dim, embed_dim, **made) if same else None)
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim, **made) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, parameter(1, 1, embed_dim, **made) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for name in ("bias_k", "bias_v"):
            if getattr(self, name) is not None:
                init.xavier_normal_(getattr(self, name))

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """The output, and the weights (the mean over the heads), or None.

        Args:
            query: (time, batch, features).
            key: compared with the query.
            value: averaged with the weights.
            key_padding_mask: True (or -inf) for keys that are padding.
            need_weights: return the weights too.
            attn_mask: True (or -inf) for pairs of query and key to ignore.
            average_attn_weights: the mean over the heads instead of all heads.
            is_causal: `attn_mask` is the causal one.
        """
        turned = self.batch_first and query.dim() == 3
        if turned:  # one tensor stays one, so that one product projects it
            rows = {x: x.transpose(1, 0) for x in (query, key, value)}
            query, key, value = rows[query], rows[key], rows[value]
        attended, weights = functional.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return attended.transpose(1, 0) if turned else attended, weights


def causal_mask(size: int, dtype: Any = float32) -> Tensor:
    """-inf above the diagonal: a position ignores later ones."""
    return Tensor(np.triu(np.full((size, size), -np.inf, dtype.numpy), 1))
