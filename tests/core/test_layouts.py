"""The strides of results, from inputs in several memory orders, beside PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

LAYOUTS = {
    "rows": "t.arange(24.0).reshape(2, 3, 4)",
    "permuted": "t.arange(24.0).reshape(3, 4, 2).permute(2, 0, 1)",
    "reversed": "t.arange(24.0).reshape(4, 3, 2).permute(2, 1, 0)",
    "transposed": "t.arange(24.0).reshape(2, 4, 3).transpose(1, 2)",
    "expanded": "t.arange(6.0).reshape(2, 3, 1).expand(2, 3, 4)",
    "stepped": "t.arange(48.0).reshape(2, 6, 4)[:, ::2]",
    "column": "t.arange(3.0).reshape(3, 1)",
    "matrix": "t.arange(12.0).reshape(4, 3).t()",
}
ONE = """
x[..., [0, 0]] | x[[0, 1]] | x[:, [0, 1]] | x[[0, 1], [0, 1]] | x[[0, 1], ..., [0, 1]] | x[:, [[0, 1], [1, 0]]] | x[x > 3]
x[:, [0, 1], [[0], [1]]] | x[0, :, [0, 1]] | x % 2 | 2 % x | x // 2 | x + 1 | 2**x | x.exp() | x > 1 | x.masked_fill(x > 1, 0.0)
x.sum(0) | x.mean(-1) | x.prod(1) | x.std(0) | x.amax(0) | x.max(0)[0] | x.median(0)[0] | x.norm(dim=0) | x.logsumexp(0)
x.any(0) | x.cumsum(0) | x.softmax(0) | x.log_softmax(-1) | x.sort(0)[0] | x.sort(1)[1] | x.topk(2, 1)[0] | x.flip(0)
x.roll(1, 0) | x.tril() | t.cat([x, x]) | t.stack([x, x], 1) | x.clone() | x.contiguous() | t.zeros_like(x) | t.ones_like(x)
t.full_like(x, 2.0) | t.empty_like(x, memory_format=t.contiguous_format)
t.rand_like(x) | x.index_select(1, t.tensor([0, 1])) | x.repeat(1, 2, 1)
x.index_fill(0, t.tensor([0]), 1.0) | x.double() | x.relu() | x.masked_scatter(x > 1, x) | t.nn.functional.layer_norm(x, (4,))
"""
TWO = "x + y | x % (y + 1) | x // (y + 1) | t.where(x > y, x, y) | t.maximum(x, y) | t.addcmul(x, y, y) | x.clamp(min=y)"


def strides(t: Any, expression: str, x: str, y: str = "0") -> tuple[int, ...]:
    return tuple(eval(expression, {"t": t, "x": eval(x, {"t": t}), "y": eval(y, {"t": t})}).stride())


@pytest.mark.parametrize("expression", [e.strip() for line in ONE.strip().split("\n") for e in line.split("|")])
def test_strides_of_a_result(expression: str) -> None:
    for name, x in list(LAYOUTS.items())[:6]:
        assert strides(av, expression, x) == strides(torch, expression, x), name


@pytest.mark.parametrize("expression", [e.strip() for e in TWO.split("|")])
def test_strides_of_a_result_of_two_tensors(expression: str) -> None:
    for x, y in itertools.product(LAYOUTS, repeat=2):
        assert strides(av, expression, LAYOUTS[x], LAYOUTS[y]) == strides(torch, expression, LAYOUTS[x], LAYOUTS[y]), (x, y)
