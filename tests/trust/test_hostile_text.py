"""Whatever the user, a file or a library calls things: it is drawn, written and said as text, and nothing else."""

from __future__ import annotations

import base64
import functools
import io
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

import autograd_viz as av
from autograd_viz import cli
from autograd_viz.cli.tensor_commands import term
from autograd_viz.graph.codec import recording_from_json
from autograd_viz.pictures.render import text_picture
from autograd_viz.stepper.recorded import Recording

from . import hostile

WORDS = ("name", "text", "file", "module", "sentence")  # the fields of a document in which any text may stand
few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
SVG = "{http://www.w3.org/2000/svg}"


def program() -> tuple[Any, dict[str, Any]]:
    """Two leaves, a changed gradient, a Function of the user's and a module."""

    class Line(av.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = av.nn.Parameter(av.tensor([2.0, 3.0]))

        def forward(self, x: Any) -> Any:
            return (self.w * x).relu()

    class Twice(av.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    model, x = Line(), av.tensor([1.0, -1.0], requires_grad=True)
    y = Twice.apply(model(x))
    y.register_hook(lambda g: g * 2)
    return y.sum(), {"x": x, "y": y, "w": model.w}


def recording() -> dict[str, Any]:
    """What `save` writes of it."""
    root, names = program()
    path = io.StringIO()
    from autograd_viz.graph.codec import recording_to_json
    from autograd_viz.verbs.save import subject_of

    stepper = subject_of(root, names).stepper()
    stepper.finish()
    path.write(recording_to_json(stepper.document, stepper.trace))
    stepper.goto(0)
    found: dict[str, Any] = json.loads(path.getvalue())
    return found


def attacked(plain: Any, text: str, ids: bool = False) -> Any:
    """The same document with `text` in every field of words (or, if asked, around every id)."""
    if isinstance(plain, list):
        return [attacked(p, text, ids) for p in plain]
    if isinstance(plain, dict):
        return {k: text if not ids and k in WORDS and isinstance(v, str) else attacked(v, text, ids) for k, v in plain.items()}
    if ids and isinstance(plain, str):
        return re.sub(r"\b([ton]\d+)\b", lambda m: m[0] + text, plain)
    return plain


BENIGN = recording()


def loaded(text: str, ids: bool = False) -> Recording:
    return Recording(*recording_from_json(json.dumps(attacked(BENIGN, text, ids))))


def with_a_megabyte() -> Recording:
    plain = json.loads(json.dumps(BENIGN))
    document = plain["document"]
    document["tensors"][0]["name"] = document["ops"][0]["name"] = document["statements"][0]["text"] = hostile.LONG
    return Recording(*recording_from_json(json.dumps(plain)))


def kinds(svg: str) -> set[tuple[str, str]]:
    """Every element with each of its attributes."""
    found = set()
    for e in ET.fromstring(svg).iter():
        found |= {(e.tag, a) for a in ("", *e.attrib)}
    return found


def stepped(rec: Recording) -> Any:
    s = av.step(rec)
    s.finish()
    return s


def pictures(rec: Recording) -> list[str]:
    """The figure, the widget's picture, a still with its caption."""
    s = stepped(rec)
    return [in_image(av.show(rec)._repr_mimebundle_()), s.picture["svg"], in_image(s.still())]


def in_image(bundle: dict[str, Any]) -> str:
    """The picture in the HTML of a cell, which is one image and nothing else; a wide one has a window."""
    image = ET.fromstring(bundle["text/html"])
    if image.tag == "div":
        window, (image, first) = image, image
        assert set(window.attrib) == {"style", "tabindex"} and (first.tag, {*first.attrib}, first.text) == (
            "span",
            {"style"},
            None,
        )
    assert image.tag == "img" and not list(image) and set(image.attrib) <= {"class", "alt", "src", "style"}
    assert image.get("alt", "").split() == bundle["text/plain"].split()  # XML has no line ends in attributes
    return base64.b64decode(image.get("src", "").partition(";base64,")[2]).decode()


HARMLESS = ["a", "a b\nc" * 30, "a.b"]  # a path has a frame
KINDS = set().union(*(kinds(svg) for text in HARMLESS for svg in pictures(loaded(text))))


@few
@given(hostile.texts())
def test_a_picture_has_no_element_that_a_benign_one_lacks(text: str) -> None:
    for svg in pictures(loaded(text)):
        svg.encode()
        assert kinds(svg) <= KINDS
        assert not hostile.TURNING & set(svg) and not hostile.CONTROLS & set(svg)


@pytest.mark.parametrize("text", [text for text in hostile.ALL if text])
def test_ids_of_a_file_are_a_letter_and_a_number(text: str) -> None:
    with pytest.raises(av.DocumentError, match="and a number"):
        loaded(text, ids=True)


def test_a_megabyte_is_drawn_too() -> None:
    rec = with_a_megabyte()
    for svg in pictures(rec):
        assert kinds(svg) <= KINDS
    assert "\x1b" not in stepped(rec).sentence


class Elements(HTMLParser):
    """What a browser would make of a page: tags with their attributes; comments and declarations too."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Any] = []
        self.handle_starttag = lambda tag, attributes: self.found.append((tag, sorted(a for a, _ in attributes)))
        self.handle_endtag = lambda tag: self.found.append(("/", tag))
        self.handle_comment = lambda data: self.found.append(("comment", ""))
        self.handle_decl = lambda data: self.found.append(("declaration", data))


def elements(page: str) -> list[Any]:
    parser = Elements()
    parser.feed(page)
    parser.close()
    words = {"text", "tspan"}  # of the still: how a text is broken depends on the text
    return [e for e in parser.found if not words & {str(part) for part in e}]


@few
@given(hostile.texts())
def test_a_page_has_the_elements_of_a_benign_one(text: str) -> None:
    page, benign = av.iframe(loaded(text)).html, av.iframe(loaded("a")).html
    (tag, attributes), *rest = elements(page)
    assert tag == "iframe" and rest == [("/", "iframe")] and [*map(str, attributes)] == [*map(str, elements(benign)[0][1])]
    assert elements(inside(page)) == elements(inside(benign))
    (script,) = set(re.findall("script-src ([^;]*);", inside(page)))
    assert script == re.findall("script-src ([^;]*);", inside(benign))[0]  # not one script more is allowed


def inside(frame: str) -> str:
    """The page in a frame."""
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append(dict(attributes)["srcdoc"] or "")  # type: ignore[method-assign]
    parser.feed(frame)
    return found[0]


def shape_of_dot(source: str) -> tuple[list[tuple[str, ...]], set[tuple[str, str]]]:
    """Boxes and arrows as `dot` understands them; of its picture the elements with their attributes."""
    done = subprocess.run(["dot", "-Tplain"], input=source.encode(), capture_output=True, check=True)
    plain = done.stdout.decode(errors="replace")  # Graphviz 14 writes stray memory as the text of some labels of edges
    words = [line.split(" ") for line in plain.split("\n")]
    shape = sorted((w[0], w[1], w[2] if w[0] == "edge" else "") for w in words if w[0] in ("node", "edge"))
    return shape, set()


def test_dot_understands_the_same_boxes_and_arrows() -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    benign = shape_of_dot(av.to_graphviz(loaded("a"), step="final").source)
    for text in ("".join(hostile.DOT), "".join(hostile.HTML), "".join(hostile.TERMINAL + hostile.UNICODE), *hostile.DOT):
        assert shape_of_dot(av.to_graphviz(loaded(text), step="final").source) == benign, text


@few
@given(hostile.texts())
def test_mermaid_has_the_same_lines(text: str) -> None:
    def lines(rec: Recording) -> list[str]:
        from autograd_viz.pictures.files.dot import mermaid
        from autograd_viz.pictures.render import theme_named

        # the words between quotes are known to be words (test_graphviz.py): what is left must be the same
        return [re.sub(r'"(?:[^"#]|#\d+;)*"', '""', line) for line in mermaid(rec.document, theme_named("light")).split("\n")]

    assert lines(loaded(text)) == lines(loaded("a"))


@few
@given(hostile.texts())
def test_json_gives_back_every_letter(text: str) -> None:
    from autograd_viz.graph.codec import recording_to_json

    rec = loaded(text)
    written = recording_to_json(rec.document, rec.trace).encode("utf-8", "backslashreplace").decode()
    again = Recording(*recording_from_json(written))
    assert again == rec or "nan" in written


@few
@given(hostile.texts())
def test_no_control_character_is_said(text: str) -> None:
    rec = loaded(text)
    s, out = stepped(rec), io.StringIO()
    term(rec.stepper(), iter("nnbfrq"), out)
    said = [
        out.getvalue(),
        text_picture(rec.document, s.stepper.state),
        s.sentence,
        repr(s.stepper),
        repr(rec),
        repr(av.show(rec)),
    ]
    said += [s._repr_mimebundle_()[0]["text/plain"]]
    for words in said:
        assert not (hostile.CONTROLS - {"\t"} | hostile.TURNING) & set(words)
        words.encode()


@pytest.mark.parametrize("text", ["".join(hostile.ALL), "\ud800\x00\u202e"])
@pytest.mark.parametrize("suffix", [".png", ".gif", ".webp", ".html", ".svg", ".dot", ".mmd", ".json"])
def test_every_file_can_be_written(tmp_path: Path, suffix: str, text: str) -> None:
    av.save(loaded(text), tmp_path / f"x{suffix}", duration=0.01, scale=0.3)
    assert (tmp_path / f"x{suffix}").stat().st_size > 100


# -- live: names that a program gives ------------------------------------------------------------------------------------


def hostile_program(text: str) -> tuple[Any, dict[str, Any]]:
    """Names of variables, of modules, of a Function and a hook, the file's name and its lines: all hostile."""
    name = text.replace("\x00", "").encode("utf-8", "replace").decode()
    fn = type(name, (av.autograd.Function,), {
        "__doc__": text, "forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(lambda ctx, g: g * 2),
    })  # fmt: skip

    def hook(g: Any) -> Any:
        return g * 2

    hook.__name__, hook.__doc__ = name, text
    namespace = {"av": av, "fn": fn, "hook": hook, "model": av.nn.Sequential(av.nn.Linear(2, 2))}
    namespace["model"]._modules[text] = namespace["model"]._modules.pop("0")
    one_line = " ".join(name.split())
    code = f"x = av.ones(2, requires_grad=True)\ny = fn.apply(model(x))  # {one_line}\ny.register_hook(hook)\nz = y.sum() * 0\n"
    import linecache

    file = name or "x"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    try:
        exec(compile(code, file, "exec"), namespace)
    finally:
        namespace[text] = namespace.pop("x", None)
    return namespace["z"], namespace


@functools.cache
def drawn_live(text: str) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The elements of the figure and of the widget's picture of such a program."""
    _, names = hostile_program(text)
    exec("figure, s = av.show(z), av.step(z)", names)
    names["s"].finish()
    return kinds(names["figure"].svg), kinds(names["s"].picture["svg"])


@few
@given(hostile.texts())
@example("\x1b[31m")
@example("\u202e")
def test_a_program_with_hostile_names_is_drawn_stepped_and_explained(text: str) -> None:
    _, names = hostile_program(text)
    exec("figure, s = av.show(z), av.step(z)", names)
    figure, s = names["figure"], names["s"]
    s.finish()
    exec("answers = [str(av.explain(v)) for v in (z, y, *model.parameters())]", names)
    assert kinds(figure.svg) <= drawn_live("a")[0] and kinds(s.picture["svg"]) <= drawn_live("a")[1]
    for words in (*names["answers"], s.sentence, repr(figure), repr(s.stepper)):
        assert not (hostile.CONTROLS - {"\t"} | hostile.TURNING) & set(words)


def test_errors_and_answers_of_the_command_hold_no_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "a\x1b[31m.py"
    script.write_text("import autograd_viz as av\nglobals()['x\\x1b]0;t\\x07'] = av.ones(1)\ny = av.ones(1)\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("nfq\n"))
    for arguments in (
        ["render", str(script), "-o", str(tmp_path / "x.svg")], ["render", str(script), "-o", "x.\x1b[31m", "--name", "y"],
        ["term", str(script), "--name", "\x1b[31m"], ["explain", str(script), "\x1b"], ["explain", str(script), "y"],
        ["term", str(tmp_path / "none\x1b[31m.py")],
    ):  # fmt: skip
        cli.main(arguments)
        said = "".join(capsys.readouterr())
        assert said and not hostile.CONTROLS & set(said), arguments
    script.write_text("raise ValueError('\\x1b[31m')")
    assert cli.main(["term", str(script)]) == 1
    assert not hostile.CONTROLS & set("".join(capsys.readouterr()))


@few
@given(hostile.texts())
def test_errors_about_names_hold_no_control_characters(text: str) -> None:
    rec = loaded(text)
    s = av.step(rec)
    for ask in (
        lambda: s.run_to(text + "?"),
        lambda: s.expand(text + "?"),
        lambda: s.collapse(text + "?"),
        lambda: av.load(text + ".xyz"),
    ):
        with pytest.raises((ValueError, OSError)) as error:
            ask()
        assert not (hostile.CONTROLS - {"\t"} | hostile.TURNING) & set(str(error.value)), str(error.value)


def test_a_pickle_is_never_read(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (open, (str(tmp_path / "ran"), "w"))

    import pickle

    import numpy as np

    data = pickle.dumps(Bomb())
    array = io.BytesIO()
    np.savez(array, x=np.array([Bomb()], dtype=object))
    for name, content in (("a.pt", data), ("a.pkl", data), ("a.npz", data), ("b.npz", array.getvalue()), ("a.json", data)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((av.AutogradVizError, ValueError)):
            loaded = av.load(tmp_path / name)
            loaded["x"]
    assert not (tmp_path / "ran").exists()
