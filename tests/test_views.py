"""The verbs: what they accept, what they refuse, and that a refusal loses nothing."""

from __future__ import annotations

import base64
import gc
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances

import autograd_viz as av
from autograd_viz.sources import anything


def program() -> dict[str, Any]:
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    return {"a": a, "b": b, "c": a * b}


@pytest.mark.parametrize("verb", [av.show, av.step, lambda x: av.save(x, "x.svg")])
@pytest.mark.parametrize("wrong", [3, None, "c", [1.0]])
def test_what_is_no_tensor_is_refused(verb: Any, wrong: Any) -> None:
    with pytest.raises(av.NotDrawableError, match="expected a tensor of autograd_viz or of PyTorch, got"):
        verb(wrong)


INSTEAD = [
    (av.nn.Linear(1, 1), "a module has no graph before it is called"),
    ([av.ones(1)], "pass one of them; for several losses pass their sum"),
    ({"loss": 1, "logits": 2}, "pass one of its values: 'loss', 'logits'"),
    (np.ones(2), "plain numbers have no graph"),
    (3.0, "plain numbers have no graph"),
]


@pytest.mark.parametrize(
    ("verb", "wrong", "advice"),
    [(v, *i) for v in (av.show, av.step) for i in INSTEAD] + [(av.explain, *i) for i in INSTEAD[1:]],  # it takes a module
)
def test_the_refusal_says_what_to_pass_instead(verb: Any, wrong: Any, advice: str) -> None:
    with pytest.raises(av.NotDrawableError, match=f"got {type(wrong).__name__} .*; {advice}"):
        verb(wrong)


def test_a_tensor_without_a_graph_is_one_box() -> None:
    x = av.tensor(1.0)
    figure = av.show(x)
    assert len(figure.document.tensors) == 1 and ">x</text>" in figure.svg


def test_a_pass_that_cannot_start_says_what_to_do() -> None:
    a = av.ones(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"only for scalar outputs; this tensor has shape \(2,\): call av.step\(tensor, gradient\)"
    ):
        av.step(a * 2)
    with pytest.raises(RuntimeError, match=r"does not have a grad_fn; av.explain\(tensor\) says why"):
        av.step(a.detach(), av.ones(2))
    assert "does not require grad; av.explain says why" in av.step(a.detach()).sentence


@pytest.mark.parametrize("step", ["a", 1.5, None, [1]])
def test_a_cursor_goes_to_whole_numbers(step: Any) -> None:
    s = av.step(program()["c"])
    with pytest.raises(TypeError, match=f"takes a whole number, got {type(step).__name__}"):
        s.goto(step)
    s.goto(np.int64(1))
    assert s.step == 1


def test_what_is_saved_comes_before_the_path() -> None:
    with pytest.raises(TypeError, match=r"takes a path, got Tensor .*; the arguments are swapped"):
        av.save("x.svg", program()["c"])


def test_a_stepper_is_known_by_its_kernel_no_more_when_its_comparison_is_closed() -> None:
    """With labels or without. What all widgets of a kind share stays."""
    shown = av.step(program()["c"])
    assert shown.model_id
    shown.close()
    before = len(_instances)
    compared = av.compare(av.step(program()["c"]), av.step(program()["c"]), titles=["one"])
    assert compared.model_id and len(_instances) > before  # a page shows it
    compared.close()
    assert len(_instances) == before


def test_stepping_a_tensor_without_a_graph_says_what_pytorch_says() -> None:
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        av.step(av.tensor(1.0))


def test_a_freed_graph_is_drawn_and_says_so() -> None:
    c = program()["c"]
    c.backward()
    figure = av.show(c)
    assert "freed" in figure.svg and "saved tensors freed" in repr(figure)
    s = av.step(c)
    with pytest.raises(RuntimeError, match="a second time"):
        s.next()
    assert s.step == 0 and "a second time" in s.error


@pytest.mark.parametrize("verb", [av.show, av.step, lambda x, theme: av.save(x, "x.svg", theme=theme)])
def test_an_unknown_theme_names_the_choices(verb: Any) -> None:
    with pytest.raises(av.UnknownChoiceError, match="unknown theme 'blue'; choose one of: light, dark, waite"):
        verb(program()["c"], theme="blue")


def test_an_unknown_suffix_names_the_choices(tmp_path: Path) -> None:
    with pytest.raises(av.UnknownChoiceError, match=r"unknown file suffix '.jpg'; choose one of: .svg, .png"):
        av.save(program()["c"], tmp_path / "c.jpg")
    assert not list(tmp_path.iterdir())


def test_a_path_that_cannot_be_written_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    c = program()["c"]
    with pytest.raises(av.CannotWriteError, match=r"the folder .*missing does not exist"):
        av.save(c, tmp_path / "missing" / "c.svg")
    (tmp_path / "c.svg").mkdir()
    with pytest.raises(av.CannotWriteError, match="it is a folder"):
        av.save(c, tmp_path / "c.svg")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.svg"]


def test_svg_and_png_are_written_and_replaced(tmp_path: Path) -> None:
    c = program()["c"]
    for _ in range(2):
        av.save(c, tmp_path / "c.svg")
        av.save(c, str(tmp_path / "c.png"), scale=1.5)
    width = float(ET.parse(tmp_path / "c.svg").getroot().get("width", ""))
    header = (tmp_path / "c.png").read_bytes()[:24]
    assert header.startswith(b"\x89PNG") and abs(int.from_bytes(header[16:20], "big") - 1.5 * width) <= 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.png", "c.svg"]
    with pytest.raises(ValueError, match="scale must be a positive number, or None, got 0"):
        av.save(c, tmp_path / "c.png", scale=0)
    with pytest.raises(av.AutogradVizError, match=r"pixels is too large; choose a scale of [0-9.]+ or less"):
        av.save(c, tmp_path / "c.png", scale=100)


def test_png_text_is_drawn_with_the_font_of_a_dependency() -> None:
    """Without its font file, resvg would draw no text at all; the picture with text is a different one."""
    from autograd_viz.pictures.files.image import png_bytes

    svg = av.show(program()["c"]).svg
    assert png_bytes(svg, 0.5) != png_bytes(svg.replace("<text", "<desc").replace("</text", "</desc"), 0.5)


def test_a_cell_shows_a_picture_even_without_a_widget() -> None:
    c = program()["c"]
    stepper = av.step(c)
    for shown in (av.show(c)._repr_mimebundle_(), stepper.still()):
        kind, data = ET.fromstring(shown["text/html"]).get("src", "").split(";base64,")
        assert kind == "data:image/svg+xml" and base64.b64decode(data).decode() == shown["image/svg+xml"]
        assert ET.fromstring(shown["image/svg+xml"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert "application/vnd.jupyter.widget-view+json" in stepper._repr_mimebundle_()[0]
    image = ET.fromstring(stepper.still()["text/html"])
    assert image.get("class") == stepper.picture["mark"] and image.get("alt") == shown["text/plain"]


def test_a_large_picture_stands_in_a_notebook_once() -> None:
    x = program()["c"]
    for _ in range(50):
        x = x.sin()
    shown = av.show(x)._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"} and shown["text/html"].startswith("<img ")


def test_a_stepper_is_saved_as_it_stands(tmp_path: Path) -> None:
    names = program()
    s = av.step(names["c"])
    s.next()
    av.save(s, tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text()
    assert "lit" in text and "freed" in text and ">3.0</tspan>" in text


def test_steppers_do_not_keep_each_others_listeners() -> None:
    first, second = program(), program()
    s, t = av.step(first["c"]), av.step(second["c"])
    s.finish()
    assert (s.step, t.step, second["a"].grad) == (3, 0, None)


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_of_cycles_is_as_before_a_picture(is_enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        av.show(program()["c"])
        av.step(program()["c"])
        with pytest.raises(av.NotDrawableError):
            av.show(3)
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("theme", ["light", "waite"])
def test_a_program_with_complex_numbers_is_drawn_stepped_edited_and_saved(theme: str, tmp_path: Path) -> None:
    z = av.tensor([1 + 2j, 0.5 - 1j], requires_grad=True)
    w = av.tensor(2.0 - 1j, requires_grad=True)
    y = (z * w).abs().sum()
    assert {"light": "[1.0000+2.j, 0.5000-1.j]", "waite": "[1+2j, 0.5-1j]"}[theme] in av.show(y, theme=theme).svg
    for suffix in ("json", "html", "svg"):
        av.save(y, tmp_path / f"y.{suffix}")
    loaded = av.load(tmp_path / "y.json")
    s = av.step(y, theme=theme)
    json.loads(s.get_state("picture")["picture"])
    s.goto(2)
    s._asked(s, {"kind": "edit", "index": 0, "how": "value", "text": "[(1+1j), 2j]"}, [])
    assert s.pending["values"]["0"]["numbers"] == ["(1+1j)", "2j"] and not s.error
    s.undo_edit()
    s.finish()
    found = av.step(loaded)
    found.finish()
    assert found.stepper.trace.steps[-1].sentence == s.stepper.trace.steps[-1].sentence
    assert w.grad is not None and w.grad.dtype == av.complex64


def test_formulas_of_complex_numbers_say_what_is_conjugated() -> None:
    z = av.tensor([1 + 2j, 0.5 - 1j], requires_grad=True)
    w = av.tensor(2.0 - 1j, requires_grad=True)
    s = av.step((z * w).abs().sum()).stepper
    s.finish()
    said = {f.input: f.text for f in s.trace.steps[2].formulas}
    assert said["self"].startswith("grad * conj(other) = [") and " * conj(2-1j) = [1+2j, 1-2j]" in said["self"]
    assert said["other"].startswith("grad * conj(self) = [") and " * conj([1+2j, 0.5-1j]) = " in said["other"]
    real = av.step(av.tensor(2.0, requires_grad=True) * av.tensor(3.0, requires_grad=True)).stepper
    assert "conj" not in str(real.document.nodes)


def test_many_values_are_told_by_the_first_and_the_last() -> None:
    def told(t: Any) -> tuple[str, str]:
        value = anything.graph_of(t, {}).document.tensors[-1].value
        return value.text, av.show(t).svg

    text, svg = told(av.arange(70.0).reshape(7, 10))
    assert text == "[[0., ..., 69.]]" and "shape (7, 10)" in svg and "..." not in svg
    assert told(av.arange(8.0))[0] == "[0., 1., 2., 3., 4., 5., 6., 7.]"


@pytest.mark.parametrize("detail", ["full", "brief"])
def test_what_a_checkpoint_computes_again_is_packed_and_not_freed(detail: str) -> None:
    a = av.tensor([1.0, 2.0], requires_grad=True)
    held = av.utils.checkpoint.checkpoint(lambda x: x.exp().sin(), a, use_reentrant=False)
    svg = av.show(held, detail=detail).svg
    assert svg.count("packed") == 2 and "freed" not in svg
    plain = a.exp()
    plain.sum().backward()
    svg = av.show(plain, detail=detail).svg
    assert "freed" in svg and "packed" not in svg
