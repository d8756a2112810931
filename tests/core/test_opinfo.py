"""PyTorch's own catalogue of ops: values, gradients, graphs and names of saved values, for a few samples of every variant.

`python -m benchmarks.opinfo` looks at many samples of each, and says what differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from ..effort import examples  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
SAMPLES = examples(10)

SPARSE, NUMPY = "sparse tensors", "NumPy has no such type"
LEFT_OUT = {
    "sparse.sampled_addmm": SPARSE,
    "sparse.mm.reduce": SPARSE,
    "to_sparse": SPARSE,
    "bfloat16": NUMPY,
    "chalf": NUMPY,
    "nn.functional.linear_cross_entropy.chunked": "a custom op of PyTorch's that saves memory",
    "nn.functional.linear_cross_entropy.chunked_none": "a custom op of PyTorch's that saves memory",
    "as_strided.partial_views": "looks beyond a tensor that was handed over without the memory around it",
}
_ABSENT = """
    _batch_norm_with_update _native_batch_norm_legit _segment_reduce.lengths _segment_reduce.offsets _unsafe_masked_index
    _unsafe_masked_index_put_accumulate _upsample_bilinear2d_aa alias_copy as_strided_copy as_strided_scatter
    cartesian_prod combinations cumulative_trapezoid diagonal_copy diagonal_scatter expand_copy fft.hfft fft.hfft2
    fft.hfftn fft.ihfft fft.ihfft2 fft.ihfftn gradient grid_sampler_2d grid_sampler_3d i0 index_reduce.amax
    index_reduce.amin index_reduce.mean index_reduce.prod linalg.householder_product linalg.inv_ex linalg.lu_factor
    linalg.lu_factor_ex linalg.lu_solve linalg.solve_ex linalg.tensorinv linalg.tensorsolve lu lu_solve lu_unpack
    masked.amax masked.amin masked.cumprod masked.cumsum masked.log_softmax masked.logaddexp masked.logsumexp masked.mean
    masked.median masked.norm masked.normalize masked.prod masked.softmax masked.softmin masked.std masked.sum masked.var
    max_pool2d_with_indices_backward mvlgamma.mvlgamma_p_1 mvlgamma.mvlgamma_p_3 mvlgamma.mvlgamma_p_5 narrow_copy
    native_dropout_backward native_group_norm native_layer_norm nn.functional.channel_shuffle
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d nn.functional.linear_cross_entropy
    nn.functional.multilabel_margin_loss nn.functional.upsample_bilinear nn.functional.upsample_nearest ormqr pca_lowrank
    permute_copy select_scatter slice_scatter special.i0e special.i1 special.i1e special.xlog1py split_with_sizes_copy
    squeeze_copy svd_lowrank t_copy torch.ops.aten._safe_softmax.default transpose_copy trapezoid trapz unbind_copy
    unfold_copy unsafe_chunk unsafe_split unsqueeze_copy view_copy
"""  # nobody calls them
ABSENT = _ABSENT.split()
LEFT_OUT |= dict.fromkeys(ABSENT, "absent")
LEFT_OUT_COMPLEX = {
    "logcumsumexp": "refused, in words",
    "istft": "PyTorch gives no gradient to a complex window that it pads",
}


@cache
def catalogue() -> ModuleType:
    """Importing it takes seconds, so only the process that runs these tests does."""
    from benchmarks import opinfo

    return opinfo


@cache
def variants(dtype: Any) -> dict[str, Any]:
    """The variants of a dtype, by name."""
    return {catalogue().name_of(op): op for op in catalogue().variants(dtype)}


def not_whole(names: Iterable[str], dtype: Any, most: int = SAMPLES) -> dict[str, str]:
    """Those of the variants that differ, and in what."""
    found = {name: catalogue().run(variants(dtype)[name], most=most, dtype=dtype) for name in names}
    return {name: outcome.detail for name, outcome in found.items() if outcome.status != "whole"}


def test_every_variant_is_whole() -> None:
    """(Hundreds of ops run.)"""
    whole = [name for name in variants(torch.float64) if name not in LEFT_OUT]
    assert len(whole) == 436
    assert not_whole(whole, torch.float64) == {}


def test_every_variant_of_complex_numbers_is_whole() -> None:
    """(Hundreds of ops run.)"""
    whole = [name for name in variants(torch.complex128) if name not in LEFT_OUT and name not in LEFT_OUT_COMPLEX]
    assert len(whole) == 267
    assert not_whole(whole, torch.complex128) == {}


def test_an_absent_op_is_refused_by_name() -> None:
    assert [*not_whole(ABSENT, torch.float64, 1)] == ABSENT


def test_what_is_left_out_is_listed_and_exists() -> None:
    assert set(LEFT_OUT) <= set(variants(torch.float64))
    assert set(LEFT_OUT_COMPLEX) <= set(variants(torch.complex128))
