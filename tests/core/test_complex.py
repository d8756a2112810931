"""Ops that PyTorch refuses for complex numbers are refused here, in its words."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ..effort import examples

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
SAMPLES = examples(10)
PARTS = 16
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


@pytest.fixture(scope="module")
def ops() -> dict[str, Any]:
    """PyTorch's own test inputs by name: 5 s to import, so only the process that runs these tests does."""
    from torch.testing._internal.common_methods_invocations import op_db

    from benchmarks import opinfo

    return {opinfo.name_of(op): op for op in op_db if torch.float64 in op.dtypes and opinfo.ours(op) is not None}


def other_answers(name: str, op: Any) -> Iterator[tuple[Any, Any]]:
    """PyTorch's refusal and what comes here instead, for samples of an op."""
    from benchmarks import opinfo

    samples = list(opinfo.samples_of(op, torch.float64))
    for sample in random.Random(0).sample(samples, min(SAMPLES, len(samples))):
        args, kwargs = complex_of((sample.input, *sample.args)), complex_of(sample.kwargs)
        want = refusal(op.op, args, kwargs)
        if want is None:
            continue
        twins: dict[int, Any] = {}
        got = refusal(opinfo.ours(op), opinfo.translated(args, twins), opinfo.translated(kwargs, twins))
        if got is None or (got != want and not any(word in name for word in OTHER_WORDS)):
            yield want, got


@pytest.mark.parametrize("part", range(PARTS))
def test_complex_numbers_are_refused_as_in_pytorch(part: int, ops: dict[str, Any]) -> None:
    others = {name: list(other_answers(name, ops[name])) for name in sorted(set(ops) - set(ACCEPTED))[part::PARTS]}
    assert others
    assert not {name: answers for name, answers in others.items() if answers}


def test_what_is_accepted_is_listed_and_exists(ops: dict[str, Any]) -> None:
    assert set(ACCEPTED) <= set(ops)
