"""Ops that PyTorch refuses for complex numbers are refused here, in its words."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

from benchmarks import opinfo  # noqa: E402

from ..effort import examples  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
SAMPLES = examples(10)
OPS = {opinfo.name_of(op): op for op in op_db if torch.float64 in op.dtypes and opinfo.ours(op) is not None}
# refused, in other words: which kernel PyTorch meets first depends on the memory format, the mode or the values
OTHER_WORDS = (
    "aminmax", "binary_cross_entropy_with_logits", "cov", "histc", "histogram", "interpolate", "istft",
    "linspace", "logspace", "max_pool", "max_unpool", "nanquantile", "polygamma", "rrelu",
    "round.decimals_0", "searchsorted", "unique", "upsample",
)  # fmt: skip
ACCEPTED = {
    "_softmax_backward_data": "only softmax itself, which is refused, leads to it",
    "cauchy": "missing",
    "geometric": "missing",
    "linalg.pinv": "PyTorch refuses a complex tolerance; the imaginary part is 0",
    "linalg.matrix_rank": "PyTorch refuses a complex tolerance; the imaginary part is 0",
    "log_normal": "missing",
    "normal": "a complex standard deviation beside a complex mean",
}


def complex_of(value: Any) -> Any:
    """The same argument, with complex numbers for real ones."""
    if isinstance(value, torch.Tensor):
        return value.detach() + 0j if value.is_floating_point() else value
    if type(value) in (list, tuple):
        return type(value)(map(complex_of, value))
    return {k: complex_of(v) for k, v in value.items()} if isinstance(value, dict) else value


def refusal(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[str, str] | None:
    try:
        function(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]
    return None


@pytest.mark.parametrize("name", [n for n in OPS if n not in ACCEPTED])
def test_complex_numbers_are_refused_as_in_pytorch(name: str) -> None:
    samples = list(opinfo.samples_of(OPS[name], torch.float64))
    for sample in random.Random(0).sample(samples, min(SAMPLES, len(samples))):
        args, kwargs = complex_of((sample.input, *sample.args)), complex_of(sample.kwargs)
        want = refusal(OPS[name].op, args, kwargs)
        if want is None:
            continue
        twins: dict[int, Any] = {}
        got = refusal(opinfo.ours(OPS[name]), opinfo.translated(args, twins), opinfo.translated(kwargs, twins))
        assert got is not None
        assert got == want or any(word in name for word in OTHER_WORDS)


def test_what_is_accepted_is_listed_and_exists() -> None:
    assert set(ACCEPTED) <= set(OPS)
