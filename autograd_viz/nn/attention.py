"""Attention: every place asks all places, and gets the mean of their values, weighted by how well question and key agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtypes import float32
from ..core.factories import zeros
from ..core.ops.joining import cat
from ..core.tensor import Tensor
from . import functional, init
from .linear import NonDynamicallyQuantizableLinear, parameter
from .module import Module


def as_added(mask: Tensor | None, dtype: Any) -> Any:
    """A mask to add to the scores: -inf where a boolean mask says True."""
    if mask is None or mask.dtype.is_floating_point:
        return mask
    return Tensor(np.where(mask._data, -np.inf, 0.0).astype(dtype.numpy))


class MultiheadAttention(Module):
    """softmax(q kᵀ / sqrt(d)) v in several heads, each with a share of the features.

    Args:
        embed_dim: the number of features.
        num_heads: must divide it.
        dropout: of the weights, while training.
        bias: add one in the projections.
        add_bias_kv: a learned key and value at the end of the sequence.
        add_zero_attn: a key and value of zeros at the end.
        kdim: features of the keys, if others.
        vdim: features of the values, if others.
        batch_first: sequences come as (batch, time, features).
        device: the CPU.
        dtype: of the parameters.
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
        """The answers, and the weights (the mean over the heads), or None.

        Args:
            query: who asks.
            key: what the questions are compared with.
            value: what the answers are made of.
            key_padding_mask: True (or -inf) for keys that are no part of the sequence.
            need_weights: return the weights too.
            attn_mask: True (or -inf) for pairs that must not see each other.
            average_attn_weights: the mean over the heads instead of all heads.
            is_causal: `attn_mask` is the causal one.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        q, k, v = query, key, value
        batched = q.dim() == 3
        if not batched:
            q, k, v = (t.unsqueeze(1) for t in (q, k, v))
        elif self.batch_first:
            q, k, v = (t.transpose(0, 1) for t in (q, k, v))
        q, k, v = self._projected(q, k, v)
        mask = self._mask(q, k, attn_mask, key_padding_mask)
        attended, weights = self._attend(q, k, v, mask)
        if not batched:
            attended, weights = attended.squeeze(1), weights.squeeze(0)
        elif self.batch_first:
            attended = attended.transpose(0, 1)
        if not need_weights:
            return attended, None
        return attended, weights.mean(-3) if average_attn_weights else weights

    def _projected(self, q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
        """Questions, keys and values, each (time, batch, features)."""
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        q, k, v = (functional.linear(t, w, b) for t, w, b in zip((q, k, v), weights, biases, strict=True))
        batch = q.shape[1]
        if self.bias_k is not None:
            k, v = (cat([t, b.expand(1, batch, self.embed_dim)], 0) for t, b in ((k, self.bias_k), (v, self.bias_v)))
        if self.add_zero_attn:
            nothing = zeros(1, batch, self.embed_dim, dtype=k.dtype)
            k, v = cat([k, nothing], 0), cat([v, nothing], 0)
        return q, k, v

    def _mask(self, q: Any, k: Any, attn_mask: Any, key_padding_mask: Any) -> Any:
        """Both masks in one, (batch, heads, questions, keys) or something that broadcasts to it."""
        batch, heads, keys = q.shape[1], self.num_heads, k.shape[0]
        mask = as_added(attn_mask, q.dtype)
        if mask is not None:
            mask = mask if mask.dim() == 2 else mask.view(batch, heads, *mask.shape[1:])
            mask = self._widened(mask, keys)
        padding = as_added(key_padding_mask, q.dtype)
        if padding is not None:
            padding = self._widened(padding.view(batch, 1, 1, padding.shape[-1]), keys)
            mask = padding if mask is None else mask + padding
        return mask

    def _widened(self, mask: Any, keys: int) -> Any:
        """Zeros for the keys that were added at the end."""
        missing = keys - mask.shape[-1]
        return cat([mask, zeros(*mask.shape[:-1], missing, dtype=mask.dtype)], -1) if missing else mask

    def _attend(self, q: Any, k: Any, v: Any, mask: Any) -> tuple[Any, Any]:
        """Answers (time, batch, features) and weights (batch, heads, questions, keys)."""
        asked, batch, _ = q.shape
        q, k, v = (t.reshape(t.shape[0], batch, self.num_heads, self.head_dim).permute(1, 2, 0, 3) for t in (q, k, v))
        scores = (q * math.sqrt(1.0 / self.head_dim)) @ k.transpose(-2, -1)
        weights = functional.softmax(scores if mask is None else scores + mask, dim=-1)
        if self.dropout and self.training:
            weights = functional.dropout(weights, self.dropout, True)
        answers = (weights @ v).permute(2, 0, 1, 3).reshape(asked, batch, self.embed_dim)
        return self.out_proj(answers), weights


def causal_mask(size: int, dtype: Any = float32) -> Tensor:
    """-inf above the diagonal: nobody sees what comes later."""
    return Tensor(np.triu(np.full((size, size), -np.inf, dtype.numpy), 1))
