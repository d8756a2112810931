"""Scaled dot-product attention: softmax(query @ key^T * scale + mask) @ value, as one op or in several."""
# fmt: off

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.names import exp, expand, reshape, sum_dim, transpose_dims, unsqueeze, where, zeros_like
from ...op import ARRAY_NAMES, NAMESPACES, composite, primitive, public
from ...tensor import Tensor, check_broadcast, refuse_if
from ..elementwise.arithmetic import mul_scalar


@composite
def scale_of(query: Any, scale: Any) -> Any:
    """The given scale, or 1 / sqrt(length of a query)."""
    return query.shape[-1] ** -0.5 if scale is None else scale


@composite
def like_query(heads: Any, query: Any) -> Any:
    """The heads of a key or value, repeated to the number of query heads."""
    n, h, s, e = heads.shape
    groups = query.shape[1] // h
    return heads if groups == 1 else reshape(expand(unsqueeze(heads, dim=2), (n, h, groups, s, e)), (n, h * groups, s, e))


@composite
def shared_heads(grad: Any, heads: Any) -> Any:
    """The gradient of `like_query`: the sum over the query heads that share a head."""
    n, h, s, e = grad.shape
    shared = heads.shape[1]
    return grad if h == shared else sum_dim(reshape(grad, (n, shared, h // shared, s, e)), dim=(2,))


@composite
def swap_last(x: Any) -> Any:
    """The last two dimensions, swapped."""
    return transpose_dims(x, dim0=-2, dim1=-1)


@composite
def attention_scores(query: Any, key: Any, attn_mask: Any, is_causal: bool, scale: Any) -> Any:
    """query @ key^T * scale, with -inf at masked positions."""
    scores = query @ swap_last(like_query(key, query)) * scale_of(query, scale)
    if is_causal:
        scores = scores + np.triu(np.full(scores.shape[-2:], -np.inf, np.float16), 1)
    return scores if attn_mask is None else scores + attn_mask


@composite
def attention_weights(query: Any, key: Any, logsumexp: Any, attn_mask: Any, is_causal: bool, scale: Any) -> Any:
    """The softmax of the scores. A fully masked query has weights 0."""
    e = exp(attention_scores(query, key, attn_mask, is_causal, scale) - unsqueeze(logsumexp, dim=-1))
    total = sum_dim(e, dim=(-1,), keepdim=True)
    return e / where(total > 0, total, zeros_like(total) + 1)


@composite
def attention_slope(grad: Any, weights: Any, value: Any, output: Any) -> Any:
    """The gradient of the scores: the rule of softmax, weights * (g - sum(weights * g)) for g = grad @ value^T."""
    return weights * (grad @ swap_last(like_query(value, grad)) - sum_dim(grad * output, dim=(-1,), keepdim=True))


@primitive("ScaledDotProductFlashAttentionForCpuBackward0", results=("output", "logsumexp"), nondifferentiable=("logsumexp",))
def flash_attention(query, key, value, *, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None):
    """softmax(query @ key^T * scale + attn_mask) @ value, and the logsumexp of the scores."""
    scores = ARRAY_NAMES["attention_scores"](query, key, attn_mask, is_causal, scale)
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = np.add.reduce(e, axis=-1, keepdims=True)
    logsumexp = np.where(total == 0, np.inf, top + np.log(total))[..., 0].astype(query.dtype)
    groups = query.shape[1] // value.shape[1]
    weights = (e / np.where(total == 0, 1, total)).astype(query.dtype)
    output = np.empty_like(query)  # with the memory order of the query
    np.matmul(weights, np.repeat(value, groups, axis=1), out=output)
    return output, logsumexp
flash_attention.defvjp(
    query = lambda grad, query, key, value, output, logsumexp, attn_mask, dropout_p, is_causal, scale:
        attention_slope(grad, attention_weights(query, key, logsumexp, attn_mask, is_causal, scale), value, output)
        @ like_query(key, query) * scale_of(query, scale),
    key   = lambda grad, query, key, value, output, logsumexp, attn_mask, dropout_p, is_causal, scale:
        shared_heads(swap_last(attention_slope(
            grad, attention_weights(query, key, logsumexp, attn_mask, is_causal, scale), value, output,
        )) @ query, key) * scale_of(query, scale),
    value = lambda grad, query, key, value, logsumexp, attn_mask, is_causal, scale:
        shared_heads(swap_last(attention_weights(query, key, logsumexp, attn_mask, is_causal, scale)) @ grad, value))


# fmt: on
def check_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    """Refuse types and dimensions that do not fit."""
    kinds = [t.dtype.cpp for t in (query, key, value)]
    if len(set(kinds)) > 1:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {kinds[0]} key.dtype: {kinds[1]} "
            f"and value.dtype: {kinds[2]} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} key.dim: "
            f"{key.ndim} and value.dim: {value.ndim} instead."
        )
    if attn_mask is not None and attn_mask.dtype.name not in ("bool", "float32", query.dtype.name):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{attn_mask.dtype.cpp} and  query.dtype: {kinds[0]} instead."
        )


def fits_flash(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, gqa: bool) -> bool:
    """Does PyTorch use its single op on the CPU for these?"""
    if dropout_p > 0 or any(t.ndim != 4 or not t.numel() for t in (query, key, value)):
        return False
    heads = query.shape[1] % key.shape[1] == 0 if gqa else query.shape[1] == key.shape[1]
    same = query.shape[0] == key.shape[0] and query.shape[3] == value.shape[3] and key.shape == value.shape
    rows = all(t._data.strides[-1] == t._data.itemsize or t.shape[-1] == 1 for t in (query, key, value))
    mask = attn_mask is None or (not attn_mask.requires_grad and attn_mask.ndim in (2, 4))
    return heads and same and rows and mask and query.shape[3] == key.shape[3]


@public("nn.functional.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(query @ key^T * scale + mask) @ value. With `is_causal`, a query sees only keys up to its own position.

    Raises RuntimeError: types or sizes do not fit.
    """
    check_attention(query, key, value, attn_mask)
    mask = attn_mask
    if attn_mask is not None:
        check_broadcast(Tensor(np.broadcast_to(0.0, (*query.shape[:-1], key.shape[-2]))), attn_mask)
        if attn_mask.dtype.name == "bool":  # as 0 and -inf
            mask = Tensor(np.where(attn_mask._data, 0, -np.inf).astype(query._data.dtype))
    if fits_flash(query, key, value, attn_mask, dropout_p, enable_gqa):
        return flash_attention(query, key, value, is_causal=is_causal, attn_mask=mask, scale=scale)[0]
    return attention_in_steps(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa)


def attention_in_steps(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float | None,
    enable_gqa: bool,
) -> Tensor:  # fmt: skip
    """Attention as several recorded ops."""
    if is_causal:
        refuse_if(mask is not None, "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        places = (query.shape[-2], key.shape[-2])
        mask = Tensor(np.triu(np.full(places, -np.inf, query._data.dtype), 1))
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    root = math.sqrt(query.shape[-1] ** -0.5 if scale is None else scale)  # half of the scale on each side keeps numbers small
    scores = mul_scalar(query, other=root) @ mul_scalar(key.transpose(-2, -1), other=root)
    if mask is not None:
        scores = scores + mask
    weights = NAMESPACES["torch"]["_safe_softmax"](scores, -1)
    if dropout_p > 0:
        weights = NAMESPACES["nn.functional"]["dropout"](weights, dropout_p)
    return weights @ value
