"""What autograd holds: each block once, what it is, the curve of the backward pass, pictures and tables."""

from __future__ import annotations

import gc
import json
import re
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.layout.measure import text_width
from autograd_viz.twin import nn

from .models import Net, leaf, memory_of


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    av.set_language("en")


def bytes_of(memory: Any) -> list[tuple[str, int]]:
    return [(row["name"], row["bytes"]) for row in memory.table()]


def test_a_saved_tensor_counts_once_however_many_nodes_save_it() -> None:
    x = leaf(4)
    loss = (x * x).sum() + (x.exp() * x).sum()
    memory = av.memory(loss)
    assert bytes_of(memory) == [("x", 16), ("Exp.result", 16)]
    assert memory.table()[1]["uses"] == 2
    assert (memory.bytes, memory.parameters, memory.activations, memory.inputs) == (32, 16, 16, 0)


def test_a_view_is_the_block_that_it_shows() -> None:
    x = leaf(6)
    h = x.exp()
    rows = [h.reshape(2, 3)[0] * 2.0, h[:3]]
    loss = (rows[0] * rows[1]).sum()
    del h
    assert av.memory(loss).activations == 24 + 12  # the whole of h, and rows[0]


def test_a_constant_is_an_input_and_a_number_is_nothing() -> None:
    x, scale = leaf(4), av.ones(4)
    memory = av.memory((x * scale * 3.0).sum())
    assert [(row["name"], row["kind"]) for row in memory.table()] == [("scale", "input")]


def test_the_parameters_and_buffers_of_a_module_are_parameters() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    x = av.randn(5, 3, requires_grad=True)
    memory = av.memory(model(x).sum())
    kinds = {row["name"]: row["kind"] for row in memory.table()}
    assert kinds["x"] == "input" and kinds["model.0.weight"] == kinds["model.1.weight"] == "parameter"
    assert memory.parameters >= 4 * (3 * 4 + 4)


@pytest.mark.parametrize("by", ["tensor", "module", "op", "line"])
def test_every_table_adds_up(by: str) -> None:
    memory = memory_of(Net())
    rows = memory.table(by)
    if by == "module":
        assert rows[0]["bytes"] == memory.bytes and rows[0]["module"] == ""
        blocks = [row["bytes"] for row in rows if re.fullmatch(r"blocks\.\d", row["module"])]
        assert sum(blocks) == next(row["bytes"] for row in rows if row["module"] == "blocks") and len(set(blocks)) == 2
    else:
        assert sum(row["bytes"] for row in rows) == memory.bytes
        assert [row["bytes"] for row in rows] == sorted((row["bytes"] for row in rows), reverse=True)


def test_a_line_is_the_one_that_ran() -> None:
    x = leaf(4)
    h = x.exp()  # this line
    loss = h.sum()
    (row,) = av.memory(loss).table("line")
    assert row["code"] == "h = x.exp()  # this line" and row["file"] == __file__


def curve(memory: Any) -> list[tuple[str, int, int, int]]:
    rows = memory.table("call")
    return [(row["node"].removesuffix("Backward0"), row["saved"], row["gradients"], row["grads"]) for row in rows]


def test_the_curve_is_what_each_call_finds_and_makes() -> None:
    x = leaf(4)
    loss = x.exp().tanh().sum()
    assert curve(av.memory(loss)) == [
        ("Sum", 32, 4, 0),  # an expanded gradient is a view of the one that arrived
        ("Tanh", 32, 20, 0),
        ("Exp", 16, 32, 0),
        ("AccumulateGrad", 0, 16, 0),
    ]


def test_a_gradient_that_two_nodes_get_is_one_block_and_their_sum_another() -> None:
    x = leaf(4)
    loss = (x.exp() + x.tanh()).square().sum()
    heights = {name: gradients for name, _, gradients, _ in curve(av.memory(loss))}
    assert heights["Add"] == 16  # passed on to both
    assert heights["Tanh"] == 16 + 16
    assert heights["Exp"] == 16 + 16 + 16  # the first gradient waits at x


def test_a_new_grad_stays_and_an_old_one_is_added_to_in_place() -> None:
    x, w = leaf(4), leaf(4)
    loss = (x.exp() * w).sum()
    assert curve(av.memory(loss))[-1][3] == 16
    w.grad = av.zeros(4)
    assert curve(av.memory(loss))[-1][3] == 0


def test_the_calls_are_those_of_the_pass_in_its_order() -> None:
    model, x = Net(), av.ones(8, 4)
    loss = model(x).square().mean()
    called = [row["node"] for row in av.memory(loss).table("call")]
    s = av.step(loss).stepper
    s.finish()
    names = {node.id: node.name for node in s.document.nodes}
    assert called == [names[step.node] for step in s.trace.steps]


def test_the_peak_is_the_highest_call_and_the_sentence_names_it() -> None:
    memory = memory_of(Net())
    rows = memory.table("call")
    highest = max(rows, key=lambda row: row["bytes"])
    assert memory.peak == highest["bytes"] == memory.to_dict()["peak"]["bytes"]
    said = rf"<Memory: .* for \d+ saved tensors: .* activations, .*; peak .* at {highest['node']} \({highest['module']}"
    assert re.match(said, repr(memory))


def test_nothing_runs_and_nothing_changes() -> None:
    x = leaf(4)
    called: list[Any] = []
    h = x.exp()
    h.register_hook(called.append)
    loss = (h * h).sum()
    av.memory(loss).svg
    assert not called and x.grad is None
    loss.backward()
    assert len(called) == 1


def test_a_tensor_without_a_backward_pass_is_refused_in_pytorchs_words() -> None:
    x = leaf(4)
    loss = x.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match=r"have already been freed.*call av\.memory\(tensor\) before backward\(\)"):
        av.memory(loss)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        av.memory(av.ones(3))
    with pytest.raises(av.NotDrawableError):
        av.memory("loss")
    with pytest.raises(av.UnknownChoiceError, match="unknown table 'lines'; choose one of: tensor, module"):
        av.memory(leaf(2).exp().sum()).table("lines")


def test_a_leaf_and_a_graph_that_saves_nothing_have_a_picture() -> None:
    x = leaf(4)
    for root in (x, (x + 1.0).sum()):
        memory = av.memory(root)
        assert memory.bytes == 0 and "no saved tensors" in memory.svg and repr(memory).startswith("<Memory: no saved tensors")


def test_the_picture_says_what_is_held_and_speaks_the_language() -> None:
    model = Net()
    svg = memory_of(model).svg
    assert "blocks.1 Block" in svg and "Tanh.result" in svg and "gradients in flight" in svg
    assert re.search(r"a checkpoint around each of blocks\.0 … blocks\.2 would save", svg)
    av.set_language("zh")
    svg = memory_of(model).svg
    assert "传递中的梯度" in svg and "激活" in svg and "checkpoint 可节省" in svg
    assert not re.search(r"activations|gradients|would save", svg)


def test_a_memory_is_saved_as_a_picture_a_page_and_data(tmp_path: Path) -> None:
    memory = memory_of(Net())
    for suffix in ("svg", "png", "html", "json"):
        av.save(memory, tmp_path / f"m.{suffix}")
    assert (tmp_path / "m.svg").read_text(encoding="utf-8") == memory.svg
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 and page.count("<table>") == 4 and "<script" not in page and "{{" not in page
    data = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert data["bytes"] == memory.bytes and len(data["call"]) == len(memory.table("call"))
    with pytest.raises(av.UnknownChoiceError, match="file suffix of a picture"):
        av.save(memory, tmp_path / "m.gif")


def test_a_notebook_shows_the_picture_and_a_name_is_no_markup(tmp_path: Path) -> None:
    x = leaf(4)
    held = {"<b>&": x}
    memory = av.memory((x * x).sum(), params=held)
    bundle = memory._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and bundle["text/plain"] == repr(memory)
    assert "<b>" not in memory.svg and "<b>" not in memory.to_html()


def test_records_are_a_frame_if_there_is_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = memory_of(Net())
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert memory.frame("op") == memory.table("op")


def test_a_memory_holds_nothing_alive() -> None:
    x = leaf(4)
    h = x.exp()
    loss, seen = (h * h).sum(), weakref.ref(h)
    memory = av.memory(loss)
    del h, loss
    gc.collect()
    assert seen() is None and memory.bytes == 16


def test_the_words_at_the_peak_are_whole() -> None:
    """Beside the mark is no room for them."""
    layers = {f"layer_of_the_encoder_{k}": nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for k in range(12)}
    model = nn.Sequential(OrderedDict(layers))
    optimizer = av.optim.Adam(model.parameters())
    memory = av.memory(model(av.randn(512, 8)).square().sum())
    assert optimizer.param_groups
    assert "optimizer state from the first step on" in repr(memory)
    texts = re.findall(r'<text x="([\d.]+)" y="[\d.]+" font-size="([\d.]+)"( text-anchor="end")?[^>]*>([^<]*)', memory.svg)
    x, size, end, said = next(text for text in texts if text[3].startswith("peak "))
    assert said.endswith("from the first step on")
    assert not end
    assert 0 < float(x) < float(x) + text_width(said, float(size)) < 960
