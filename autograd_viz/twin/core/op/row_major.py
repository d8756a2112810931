"""Ops with a row-major result: they are not elementwise, but their NumPy functions keep the memory order of the input."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

_NAMES = """
all_dims amax_dims amin_dims aminmax_dim any_dims cat_tensors count_nonzero_dims cummax_dim cummin_dim cumprod_dim cumsum_dim
kthvalue_dim layer_normalization log_softmax_dim logcumsumexp_dim logsumexp_dims masked_fill_scalar masked_fill_tensor
masked_scatter_values max_dim mean_dim median_dim min_dim mode_dim nanmedian_dim nansum_dim norm_dims prod_dim repeat_dims
roll_dims rot90_dims rpow_scalar safe_softmax_dim softmax_dim stack_tensors std_dims std_mean_dims sum_dim topk_dim tril triu
var_dims var_mean_dims vector_norm_dims
"""
ROW_MAJOR = frozenset(_NAMES.split())


def row_major(forward: Callable[..., Any]) -> Callable[..., Any]:
    """The forward of such an op, with a row-major result."""

    @wraps(forward)
    def in_rows(*arrays: Any, **options: Any) -> Any:
        out = forward(*arrays, **options)
        if type(out) is tuple:
            return tuple(np.asarray(o, order="C") for o in out)
        return out if out.flags.c_contiguous else np.asarray(out, order="C")

    return in_rows
