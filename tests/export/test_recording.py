"""A .json gives back what was saved, fits its schema, and is never trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph.schema import json_schema

from ..figures import figure


def saved(path: Path, x: Any = None) -> dict[str, Any]:
    av.save(figure(4, before=True)[0] if x is None else x, path)
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def hostile() -> Any:
    x = av.tensor([0.0, float("inf"), float("nan")], requires_grad=True)
    return (x * 2).sum()


@pytest.mark.parametrize("number", [1, 3, 4, 5, 6])
@pytest.mark.parametrize("before", [True, False])
def test_every_figure_fits_the_schema(tmp_path: Path, number: int, before: bool) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.check_schema(json_schema())
    plain = saved(tmp_path / "x.json", figure(number, before=before)[0])
    validator.validate(plain)
    assert bool(plain["trace"]) == (before and number != 1)
    plain["document"]["tensors"][0]["colour"] = "red"
    assert [e.message for e in validator.iter_errors(plain)] == [
        "Additional properties are not allowed ('colour' was unexpected)"
    ]


def test_numbers_that_json_lacks_fit_the_schema_and_come_back(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json_schema()).validate(saved(tmp_path / "x.json", hostile()))
    assert "nan" in av.load(tmp_path / "x.json").document.tensors[0].value.text


def test_it_is_shown_stepped_and_saved_as_the_tensor_is(tmp_path: Path) -> None:
    e, _ = figure(4, before=True)
    original = av.step(e)
    av.save(original, tmp_path / "e.json")
    loaded = av.load(tmp_path / "e.json")
    assert repr(loaded).endswith("5 steps>")
    s = av.step(loaded)
    assert s.picture["total"] == 5 and not s.complete
    for step in (*range(6), 2, -1):
        original.goto(step)
        s.goto(step)
        assert (s.sentence, s.stepper.state) == (original.sentence, original.stepper.state)
    assert json.dumps(s.frames) == json.dumps(original.frames)
    for suffix in ("svg", "html", "json"):
        for x, name in ((original, "a"), (loaded, "b")):
            av.save(x, tmp_path / f"{name}.{suffix}", step=4)
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert av.show(loaded).document == original.stepper.document


def test_a_recording_stops_runs_to_and_cannot_be_edited(tmp_path: Path) -> None:
    saved(tmp_path / "e.json")
    s = av.step(av.load(tmp_path / "e.json"))
    s.run_to("t2")
    assert s.step == 2
    with pytest.raises(av.AutogradVizError, match="a recording cannot be edited"):
        s.edit(3.0)
    s.finish()
    assert s.step == 5 and s.complete
    s.goto(2)
    with pytest.raises(av.AutogradVizError, match="a recording cannot be edited"):
        s.edit(3.0)
    assert len(s.stepper.trace.steps) == 5  # nothing is forgotten


def test_an_unfinished_recording_says_where_it_ends(tmp_path: Path) -> None:
    plain = saved(tmp_path / "e.json")
    del plain["trace"]["steps"][2:], plain["trace"]["complete"]
    (tmp_path / "e.json").write_text(json.dumps(plain))
    s = av.step(av.load(tmp_path / "e.json"))
    with pytest.raises(av.AutogradVizError, match="the recording ends after 2 steps"):
        s.finish()
    assert s.step == 2 and not s.complete


def _set(plain: dict[str, Any], *path: Any, value: Any) -> None:
    *way, last = path
    for key in way:
        plain = plain[key]
    plain[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("schema",),
            2,
            "cannot read schema version 2; this version reads 1",
        ),
        (("trace", "steps", 0, "node"), "n99", "step 1 names 'n99', which does not exist"),
        (("trace", "steps", 0, "grad_inputs"), [], "step 1 has 0 grad_inputs"),
        (("document", "tensors", 0, "id"), "t1", "tensor t1 appears twice"),
        (("document", "tensors", 0, "id"), 3, r"document.tensors\[0\].id: expected str, got 3"),
        (("document", "ops", 0, "inputs", 0, "tensor"), "t99", "op o0 names 't99', which does not exist"),
        (("document", "roots"), ["t99"], "the roots names 't99'"),
    ],
)
def test_a_document_that_does_not_fit_is_refused(tmp_path: Path, path: tuple[Any, ...], value: Any, message: str) -> None:
    plain = saved(tmp_path / "e.json")
    _set(plain, *path, value=value)
    (tmp_path / "e.json").write_text(json.dumps(plain))
    with pytest.raises(av.DocumentError, match=message):
        av.load(tmp_path / "e.json")


def test_what_is_no_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(av.CannotReadError, match="No such file"):
        av.load(tmp_path / "e.json")
    (tmp_path / "e.json").write_bytes(b"\x80\x04\x95")  # a pickle by another name
    with pytest.raises(av.CannotReadError, match="it is not a text file"):
        av.load(tmp_path / "e.json")
    (tmp_path / "e.json").write_text("[1]")
    with pytest.raises(av.DocumentError, match="this JSON has no document"):
        av.load(tmp_path / "e.json")
    with pytest.raises(av.UnknownChoiceError, match=r"choose one of: .json, .npz"):
        av.load(tmp_path / "e.svg")


def test_a_long_chain_is_written_and_read(tmp_path: Path) -> None:
    x = av.tensor(1.0, requires_grad=True)
    for _ in range(1000):
        x = x * 1.0
    av.save(x, tmp_path / "x.json")
    loaded = av.load(tmp_path / "x.json")
    assert (len(loaded.document.ops), len(loaded.trace.steps)) == (1000, 1001)
