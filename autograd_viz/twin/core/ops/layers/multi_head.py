"""Multi-head attention: queries, keys and values are projected and split into heads; the results are joined again."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...base.public import public
from ...tensor import Size, Tensor, refuse_if
from ..activation.dropout import dropout
from ..matrix.matrix_products import linear
from ..shape.joining import cat
from .attention import scaled_dot_product_attention
from .padding import pad


def need(condition: Any, text: str) -> None:
    """Raise an AssertionError, as PyTorch does here, unless the condition holds."""
    refuse_if(not condition, text, AssertionError)


def check_dimensions(
    query: Tensor, key: Tensor, value: Tensor, key_mask: Tensor | None, mask: Tensor | None, heads: int
) -> bool:
    """Is there a batch dimension? All arguments must agree."""
    need(query.ndim in (2, 3), f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor")
    batched = query.ndim == 3
    what = "batched (3-D)" if batched else "unbatched (2-D)"
    need(
        key.ndim == value.ndim == query.ndim,
        f"For {what} `query`, expected `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D "
        "tensors respectively",
    )
    if key_mask is not None:
        wanted = query.ndim - 1
        need(
            key_mask.ndim == wanted,
            f"For {what} `query`, expected `key_padding_mask` to be `None` or {wanted}-D but found {key_mask.ndim}-D tensor "
            "instead",
        )
    if mask is not None:
        need(
            mask.ndim in (2, 3),
            f"For {what} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead",
        )
        if not batched and mask.ndim == 3:
            wanted_shape = (heads, query.shape[0], key.shape[0])
            need(mask.shape == wanted_shape, f"Expected `attn_mask` shape to be {wanted_shape} but got {mask.shape}")
    return batched


def as_addend(mask: Tensor | None, name: str, query: Tensor) -> Tensor | None:
    """A mask as a term to add to the scores. True becomes -inf: here it means "ignore"."""
    if mask is None or mask.dtype.is_floating_point:
        return mask
    need(mask.dtype.name == "bool", f"only bool and floating types of {name} are supported")
    return Tensor(np.where(mask._data, -np.inf, 0).astype(query._data.dtype))


def project_packed(query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """The three projections, with their weights in one matrix. Inputs that are the same tensor are projected together."""
    e = query.shape[-1]
    if key is value and query is key:
        return apart(linear(query, weight, bias), 3, e)
    if key is value:
        w_q, w_kv = weight.split([e, 2 * e])
        b_q, b_kv = (None, None) if bias is None else bias.split([e, 2 * e])
        q = linear(query, w_q, b_q)
        return (q, *apart(linear(key, w_kv, b_kv), 2, e))
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def apart(joined: Tensor, parts: int, e: int) -> tuple[Tensor, ...]:
    """The last dimension, split into `parts`, which then come first in memory."""
    cut = joined.unflatten(-1, (parts, e)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(cut[i] for i in range(parts))


def project_separately(
    inputs: tuple[Tensor, Tensor, Tensor], weights: tuple[Any, Any, Any], bias: Tensor | None
) -> tuple[Tensor, ...]:
    """The three projections, each with its own matrix."""
    e = inputs[0].shape[-1]
    for name, letter, w, x in zip(("query", "key", "value"), "qkv", weights, inputs, strict=True):
        need(w is not None, f"use_separate_proj_weight is True but {letter}_proj_weight is None")
        wanted = (e, x.shape[-1])
        need(w.shape == wanted, f"expecting {name} weights shape of {wanted}, but got {w.shape}")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    for name, b in zip(("query", "key", "value"), biases, strict=True):
        need(b is None or b.shape == (e,), f"expecting {name} bias shape of {(e,)}, but got {None if b is None else b.shape}")
    return tuple(linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True))


def project(
    inputs: tuple[Tensor, Tensor, Tensor], packed: Tensor | None, separate: tuple[Any, Any, Any] | None, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """The projected queries, keys and values."""
    query, key, value = inputs
    if separate is not None:
        near, far = key.shape[:2], value.shape[:2]
        need(near == far, f"key's sequence and batch dims {near} do not match value's {far}")
        return project_separately(inputs, separate, bias)
    need(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
    need(packed is not None, "use_separate_proj_weight is False but in_proj_weight is None")
    return tuple(project_packed(query, key, value, packed, bias))  # type: ignore[arg-type]


def with_biases(
    k: Tensor, v: Tensor, bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None
) -> tuple[Tensor, Tensor, bool]:
    """Append the learned extra key and value, if they exist. Also returns whether they do."""
    need(bias_k is not None or bias_v is None, "bias_v is set but bias_k is None")
    need(bias_v is not None or bias_k is None, "bias_k is set but bias_v is None")
    if bias_k is None or bias_v is None:
        return k, v, False
    need(static_k is None, "bias cannot be added to static key.")
    need(static_v is None, "bias cannot be added to static value.")
    samples = k.shape[1]
    return cat([k, bias_k.repeat(1, samples, 1)]), cat([v, bias_v.repeat(1, samples, 1)]), True


def mask_per_head(mask: Tensor | None, key_mask: Tensor | None, samples: int, heads: int, k_len: int) -> Any:
    """Both masks combined, for (samples * heads, queries, keys)."""
    if key_mask is None:
        return mask
    for d, wanted in enumerate((samples, k_len)):
        need(key_mask.shape[d] == wanted, f"Expected key_padded_mask.shape[{d}] to be {wanted}, but got {key_mask.shape[d]}")
    wide = key_mask.view(samples, 1, 1, k_len).expand(-1, heads, -1, -1).reshape(samples * heads, 1, k_len)
    return wide if mask is None else mask + wide


def checked_mask(mask: Tensor | None, rows: int, q_len: int, k_len: int) -> Tensor | None:
    """The mask with three dimensions."""
    if mask is None:
        return None
    wanted = (q_len, k_len) if mask.ndim == 2 else (rows, q_len, k_len)
    if mask.shape != wanted:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {Size(mask.shape)}, but should be {wanted}.")
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def attend_with_weights(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple[Tensor, Tensor]:
    """Attention that also returns its weights."""
    q_scaled = q * math.sqrt(1.0 / q.shape[-1])
    keys = k.transpose(-2, -1)
    scores = q_scaled.bmm(keys) if mask is None else mask.baddbmm(q_scaled, keys)
    weights = scores.softmax(-1)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    return weights.bmm(v), weights


def attend_by_sample(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, samples: int
) -> Tensor:
    """Attention through scaled_dot_product_attention, on (samples, heads, positions, features)."""
    q, k, v = (x.view(samples, -1, *x.shape[1:]) for x in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(samples, q.shape[1], -1, k.shape[2])
    return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)


def both_masks(
    query: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, is_causal: bool, need_weights: bool
) -> tuple[Tensor | None, Tensor | None]:
    """The masks as terms to add. The attention mask is omitted if the hint `is_causal` replaces it."""
    if key_padding_mask is not None and attn_mask is not None and key_padding_mask.dtype is not attn_mask.dtype:
        warnings.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.",
            UserWarning,
            stacklevel=3,
        )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    by_hint = is_causal and key_padding_mask is None and not need_weights
    return (
        as_addend(key_padding_mask, "key_padding_mask", query),
        None if by_hint else as_addend(attn_mask, "attn_mask", query),
    )


def in_heads(x: Tensor, static: Tensor | None, name: str, rows: int, head: int) -> Tensor:
    """Keys or values as (samples * heads, positions, features of a head), or the static ones instead."""
    if static is None:
        return x.view(x.shape[0], rows, head).transpose(0, 1)
    need(static.shape[0] == rows, f"expecting static_{name}.size(0) of {rows}, but got {static.shape[0]}")
    need(static.shape[2] == head, f"expecting static_{name}.size(2) of {head}, but got {static.shape[2]}")
    return static


@public("nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
    need_weights: bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention in `num_heads` heads on inputs (positions, samples, features). Returns the output and the weights.

    Raises AssertionError, RuntimeError: shapes do not fit, in PyTorch's words.
    """
    batched = check_dimensions(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    key_padding_mask, attn_mask = both_masks(query, key_padding_mask, attn_mask, is_causal, need_weights)
    is_causal = is_causal and key_padding_mask is None
    q_len, samples, width = query.shape
    need(width == embed_dim_to_check, f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    need(width % num_heads == 0, f"embed_dim {width} not divisible by num_heads {num_heads}")
    rows, head = samples * num_heads, width // num_heads
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = project((query, key, value), in_proj_weight, separate, in_proj_bias)
    attn_mask = checked_mask(attn_mask, rows, q_len, key.shape[0])
    k, v, longer = with_biases(k, v, bias_k, bias_v, static_k, static_v)
    q = q.view(q_len, rows, head).transpose(0, 1)
    k, v = (in_heads(x, static, n, rows, head) for x, static, n in ((k, static_k, "k"), (v, static_v, "v")))
    if add_zero_attn:
        k, v = (cat([x, Tensor(np.zeros((x.shape[0], 1, x.shape[2]), x._data.dtype))], dim=1) for x in (k, v))
    for _ in range(longer + add_zero_attn):  # an unmasked column for each extra key
        attn_mask, key_padding_mask = (None if m is None else pad(m, (0, 1)) for m in (attn_mask, key_padding_mask))
    k_len, dropout_p = k.shape[1], dropout_p if training else 0.0
    mask = mask_per_head(attn_mask, key_padding_mask, samples, num_heads, k_len)
    if need_weights:
        need(not is_causal or mask is not None, "FIXME: is_causal not implemented for need_weights")
        output, seen = attend_with_weights(q, k, v, mask, dropout_p)
        joined = output.transpose(0, 1).reshape(q_len * samples, width)
    else:
        output, seen = attend_by_sample(q, k, v, mask, dropout_p, is_causal, samples), None
        joined = output.permute(2, 0, 1, 3).reshape(samples * q_len, width)
    projected = linear(joined, out_proj_weight, out_proj_bias)
    projected = projected.view(q_len, samples, projected.shape[1])
    if seen is None:
        return (projected if batched else projected.squeeze(1)), None
    seen = seen.view(samples, num_heads, q_len, k_len)
    seen = seen.mean(1) if average_attn_weights else seen
    return (projected, seen) if batched else (projected.squeeze(1), seen.squeeze(0))
