"""What the document says of large arrays, shared memory, and what nodes keep alive."""

from __future__ import annotations

import gc
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.graph import document_from_json, document_to_json
from autograd_viz.graph.model import Document, Saved
from autograd_viz.runtime.collector import collector_waits
from autograd_viz.sources.shared.values import SIDE, summary_of, value_of
from autograd_viz.sources.twin.graph import CoreGraph


def document_of(root: av.Tensor, names: dict[str, Any]) -> Document:
    return CoreGraph([root], names).document


def leaf(x: Any) -> av.Tensor:
    return av.tensor(x, requires_grad=True)


def test_a_summary_says_extremes_mean_norm_and_zeros() -> None:
    array = np.arange(100, dtype=np.float32).reshape(10, 10) - 50
    s = summary_of(array)
    assert (s.least, s.most, s.zeros, s.nans, s.infs) == (-50.0, 49.0, 1, 0, 0)
    assert s.mean == pytest.approx(-0.5) and s.norm == pytest.approx(np.linalg.norm(array), rel=1e-6)


def test_a_thumbnail_is_the_means_of_blocks() -> None:
    array = np.kron(np.arange(64, dtype=np.float32).reshape(8, 8), np.ones((3, 2), np.float32))
    s = summary_of(array)
    assert (s.rows, s.columns, s.thumbnail) == (8, 8, tuple(float(i) for i in range(64)))
    s = summary_of(np.arange(160.0))
    assert (s.rows, s.columns, s.thumbnail[0]) == (1, 8, 9.5)
    s = summary_of(np.ones((5, 6, 7, 3)))
    assert (s.rows, s.columns, set(s.thumbnail)) == (8, 3, {1.0})


def test_nan_and_inf_are_counted_and_left_out_but_seen_in_the_thumbnail_without_a_warning() -> None:
    array = np.ones((20, 20), np.float32)
    array[0, :3], array[19, 19], array[5:8, :] = np.nan, -np.inf, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = summary_of(array)
        nothing = summary_of(np.full(100, np.nan))
        huge = summary_of(np.full((10, 10), 1e30, np.float32))
        tiny = summary_of(np.full((10, 10), 1e-30, np.float32))
    assert (s.least, s.most, s.mean, s.nans, s.infs) == (1.0, 1.0, 1.0, 3, 61)
    blocks = [v for v in s.thumbnail if not math.isnan(v)]
    assert math.isnan(s.thumbnail[0]) and s.thumbnail[63] == -math.inf and set(blocks) == {1.0, math.inf, -math.inf}
    assert nothing.nans == 100 and math.isnan(nothing.mean) and nothing.norm == 0.0
    assert huge.norm == pytest.approx(1e31, rel=1e-6) and tiny.norm == pytest.approx(1e-29, rel=1e-6, abs=0) and tiny.zeros == 0


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", "complex64"])
def test_every_element_type_has_a_summary_of_plain_numbers(dtype: str) -> None:
    array = (np.arange(200) % 2).astype(dtype)
    s = summary_of(array)
    assert (s.least, s.most, s.mean, s.zeros) == (0.0, 1.0, 0.5, 100)
    assert all(type(v) is float for v in (s.least, s.most, s.mean, s.norm, *s.thumbnail))


def test_complex_elements_count_by_their_absolute_value() -> None:
    assert summary_of(np.full(100, 3 + 4j)).mean == pytest.approx(5.0)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=3))
def test_a_thumbnail_of_any_shape_has_the_mean_of_the_array(shape: list[int]) -> None:
    array = np.random.default_rng(0).normal(size=shape)
    s = summary_of(array)
    assert s.rows <= SIDE and s.columns <= SIDE and len(s.thumbnail) == s.rows * s.columns
    assert min(s.thumbnail) >= s.least - 1e-12 and max(s.thumbnail) <= s.most + 1e-12
    assert s.mean == pytest.approx(array.mean())


def test_only_large_arrays_have_a_summary() -> None:
    assert value_of(np.zeros(64)).summary is None and value_of(np.zeros((0, 100))).summary is None
    large = value_of(np.zeros(65))
    assert large.numbers == () and large.summary is not None and large.summary.zeros == 65


def test_a_place_says_the_code_that_stands_there() -> None:
    from ..figures import run

    code = "a = torch.tensor(2.0, requires_grad=True)\nif True:\n    e = (a * 3 +\n         torch.exp(a))\n"
    names = run(code)
    places = {o.name: o.source for o in document_of(names["e"], names).ops}
    add, exp = places["Add"], places["Exp"]
    assert add and add.text == "    e = (a * 3 +\n         torch.exp(a))"
    assert exp and exp.text[exp.column : exp.end_column] == "torch.exp(a)"


def test_tensors_of_one_memory_name_one_another() -> None:
    a = leaf([1.0, 2.0, 3.0])
    row, cut = a.view(3, 1), a.detach()
    other = a * 2
    y = (row.sum() * cut.sum() * other.sum()).sum()
    document = document_of(y, {"a": a, "row": row, "cut": cut, "other": other})
    ids = {t.name: t.id for t in document.tensors}
    shares = {t.name: t.shares for t in document.tensors}
    assert shares["a"] == (ids["row"], ids["cut"]) and shares["row"] == (ids["a"], ids["cut"]) and shares["other"] == ()


def test_slices_that_do_not_overlap_share_their_memory_too() -> None:
    a = leaf([1.0, 2.0, 3.0, 4.0])
    left, right = a[:2], a[2:]
    document = document_of((left * right).sum(), {"a": a, "left": left, "right": right})
    assert {t.name: len(t.shares) for t in document.tensors if t.name} == {"a": 2, "left": 2, "right": 2}


def test_a_thousand_views_do_not_name_one_another_a_million_times() -> None:
    a = leaf(np.ones(1000, np.float32))
    document = document_of(av.stack([a[i] for i in range(1000)]).sum(), {"a": a})
    assert max(len(t.shares) for t in document.tensors) == 16


def saved_of(document: Document, name: str) -> dict[str, Saved]:
    node = next(n for n in document.nodes if n.name == name)
    return {s.name: s for s in node.saved}


def test_what_is_saved_says_its_version_its_bytes_and_whether_it_still_holds() -> None:
    a, b = leaf([1.0, 2.0]), av.tensor([3.0, 4.0])
    y = (a * b).sum()
    other = saved_of(document_of(y, {}), "MulBackward0")["other"]
    assert (other.version, other.stale, other.bytes) == (0, False, 8)
    b += 1
    other = saved_of(document_of(y, {}), "MulBackward0")["other"]
    assert (other.version, other.stale) == (0, True)
    z = (a * b).sum()
    other = saved_of(document_of(z, {}), "MulBackward0")["other"]
    assert (other.version, other.stale) == (1, False)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    z.backward()
    assert saved_of(document_of(z, {}), "MulBackward0")["other"] == Saved("other", "freed")


def test_a_stale_result_is_seen() -> None:
    a = leaf([1.0, 2.0])
    e = a.exp()
    y = e.sum()
    assert not saved_of(document_of(y, {}), "ExpBackward0")["result"].stale
    e += 1
    assert saved_of(document_of(e.sum(), {"a": a}), "ExpBackward0")["result"].stale


def test_a_saved_view_keeps_all_of_its_memory_alive() -> None:
    a = leaf(np.ones(1, np.float32))
    large = av.tensor(np.ones(1000, np.float32))
    y = (a * large[:1]).sum()
    assert saved_of(document_of(y, {}), "MulBackward0")["other"].bytes == 4000
    spread = (leaf(np.ones(50, np.float32)) * av.tensor(2.0).expand(50)).sum()
    assert saved_of(document_of(spread, {}), "MulBackward0")["other"].bytes == 4


def test_a_graph_whose_saved_tensors_hooks_keep_is_drawn_without_asking_them() -> None:
    asked = []

    def unpack(array: Any) -> av.Tensor:
        asked.append(array)
        return av.tensor(array)

    a = leaf([1.0, 2.0])
    with av.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), unpack):
        y = (a * a).exp().sum()
    result = saved_of(document_of(y, {"a": a}), "ExpBackward0")["result"]
    assert (result.state, result.value, result.bytes) == ("kept", None, 0) and asked == []


def test_a_document_with_summaries_survives_json() -> None:
    a = leaf(np.arange(100, dtype=np.float32))
    document = document_of((a.view(10, 10) * av.tensor(2.0)).sum(), {"a": a})
    assert document_from_json(document_to_json(document)) == document
    assert any(t.value.summary for t in document.tensors) and any(t.shares for t in document.tensors)


def test_garbage_is_collected_again_after_a_document_also_after_one_that_failed() -> None:
    with pytest.raises(ZeroDivisionError), collector_waits():
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert gc.isenabled()
    av.show(leaf([1.0]).sum())
    assert gc.isenabled()
    gc.disable()
    try:
        av.show(leaf([1.0]).sum())
        assert not gc.isenabled(), "the user's own wish is kept"
    finally:
        gc.enable()
