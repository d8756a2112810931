"""PyTorch's own catalogue of ops: values, gradients, graphs and names of saved values, for a few samples of every variant.

`python -m benchmarks.opinfo` looks at many samples of each, and says what differs.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from benchmarks import opinfo  # noqa: E402

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
    "nn.functional.linear_cross_entropy.chunked": "a custom op of PyTorch's that saves memory; the results agree",
    "nn.functional.linear_cross_entropy.chunked_none": "a custom op of PyTorch's that saves memory; the results agree",
    "as_strided.partial_views": "looks beyond a tensor that was handed over without the memory around it",
    "as_strided_scatter": "PyTorch's gradient is not zero where src overwrites; ours agrees with central differences",
}
VARIANTS = {opinfo.name_of(op): op for op in opinfo.variants()}
WHOLE = [name for name in VARIANTS if name not in LEFT_OUT]

LEFT_OUT_COMPLEX = {
    "logcumsumexp": "refused, in words",
    "istft": "PyTorch gives no gradient to a complex window that it pads",
}
COMPLEX = {opinfo.name_of(op): op for op in opinfo.variants(torch.complex128)}
WHOLE_COMPLEX = [name for name in COMPLEX if name not in LEFT_OUT and name not in LEFT_OUT_COMPLEX]


@pytest.mark.parametrize("name", WHOLE)
def test_a_variant_is_whole(name: str) -> None:
    outcome = opinfo.run(VARIANTS[name], most=SAMPLES)
    assert outcome.status == "whole", outcome.detail


@pytest.mark.parametrize("name", WHOLE_COMPLEX)
def test_a_variant_of_complex_numbers_is_whole(name: str) -> None:
    outcome = opinfo.run(COMPLEX[name], most=SAMPLES, dtype=torch.complex128)
    assert outcome.status == "whole", outcome.detail


def test_what_is_left_out_is_listed_and_exists() -> None:
    assert set(LEFT_OUT) <= set(VARIANTS)
    assert len(WHOLE) >= 531
    assert set(LEFT_OUT_COMPLEX) <= set(COMPLEX)
    assert len(WHOLE_COMPLEX) >= 316
