"""What `save` leaves behind: the file, and everything else as it was."""

from __future__ import annotations

import gzip
import io
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.files import image
from autograd_viz.pictures.render import THEMES
from autograd_viz.verbs.formats import WRITERS

from ..figures import figure


def program() -> tuple[Any, dict[str, Any]]:
    return figure(3, before=True)


def test_a_picture_of_any_step(tmp_path: Path) -> None:
    e, names = program()
    s = av.step(e)
    for step in (-2, 0, 3, 5):
        av.save(e, tmp_path / "e.svg", step=step)
        s.goto(step)
        av.save(s, tmp_path / "s.svg")
        assert (tmp_path / "e.svg").read_text() == (tmp_path / "s.svg").read_text()
        s.goto(0)
    av.save(e, tmp_path / "final.svg", step="final")
    assert (tmp_path / "final.svg").read_text() == (tmp_path / "e.svg").read_text()
    assert names["a"].grad is None


@pytest.mark.parametrize("verb", [av.show, av.map, av.memory])
def test_a_picture_that_was_drawn_is_saved_in_another_theme(verb: Any, tmp_path: Path) -> None:
    shown = verb(program()[0])
    av.save(shown, tmp_path / "same.svg")
    av.save(shown, tmp_path / "dark.svg", theme="dark")
    light, dark = ((tmp_path / f"{name}.svg").read_text() for name in ("same", "dark"))
    canvas = {name: THEMES[name].colours()["canvas"] for name in ("light", "dark")}
    assert light == shown.svg
    assert canvas["dark"] in dark and canvas["dark"] not in light


def test_the_page_of_a_result_without_grad_steps_its_forward_pass(tmp_path: Path) -> None:
    a = av.tensor(2.0)
    av.save(a * 3.0 + 1.0, tmp_path / "c.html")
    blocks = re.findall(r"H4sI[\w+/=]+", (tmp_path / "c.html").read_text())
    assert "No backward pass follows" in "".join(gzip.decompress(b64decode(block)).decode() for block in blocks)
    with pytest.raises(ValueError, match="the pass has 0"):
        av.save(a * 3.0, tmp_path / "c.svg", step=1)


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_everything_is_as_before(tmp_path: Path, suffix: str) -> None:
    e, names = program()
    names["b"].grad = av.tensor(1.0)
    av.save(e, tmp_path / f"e{suffix}", step=2)
    assert names["a"].grad is None and names["b"].grad.item() == 1.0
    e.backward()  # nothing was freed
    assert names["a"].grad.item() == 12.0


@pytest.mark.torch
def test_everything_is_as_before_in_pytorch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    a = torch.tensor(2.0, requires_grad=True)
    e = a * a * 3
    av.save(e, tmp_path / "e.html")
    assert a.grad is None
    e.backward()
    assert a.grad.item() == 12.0


@pytest.mark.parametrize("save", [lambda e, path: av.save(e, path), lambda e, path: av.iframe(e)], ids=["save", "iframe"])
def test_a_pass_that_has_run_says_what_to_save(tmp_path: Path, save: Any) -> None:
    e, _ = program()
    s = av.step(e)
    s.finish()
    with pytest.raises(RuntimeError, match=r"a second time .*; to save a pass .* save the stepper: .* av.save\(s, path\)"):
        save(e, tmp_path / "e.html")
    av.save(s, tmp_path / "e.html")
    assert (tmp_path / "e.html").exists()


def test_a_stepper_stays_where_it_is(tmp_path: Path) -> None:
    e, names = program()
    s = av.step(e)
    s.goto(2)
    for name, step in (("a.html", None), ("a.svg", 4), ("a.svg", -1)):
        av.save(s, tmp_path / name, step=step)
        assert s.step == 2 and names["a"].grad is None and names["d"].grad.item() == 6.0


def test_a_pass_that_fails_is_taken_back(tmp_path: Path) -> None:
    e, names = program()
    names["c"].register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        av.save(e, tmp_path / "e.html")
    assert names["d"].grad is None and not list(tmp_path.iterdir())


def test_a_step_that_is_not_there(tmp_path: Path) -> None:
    e, _ = program()
    with pytest.raises(ValueError, match="there is no step 6: the pass has 5"):
        av.save(e, tmp_path / "e.svg", step=6)
    with pytest.raises(ValueError, match="step must be at least -2"):
        av.save(e, tmp_path / "e.svg", step=-3)
    with pytest.raises(av.UnknownChoiceError, match="unknown step 'last'; choose one of: a number, final"):
        av.save(e, tmp_path / "e.svg", step="last")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_may_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)  # tests may run as root, who may write anywhere
    with pytest.raises(av.CannotWriteError, match=r"cannot write .*e\.svg: Permission denied"):
        av.save(program()[0], tmp_path / "e.svg")


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_is_written_whole_or_not_at_all(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if suffix == ".pdf":
        pytest.importorskip("typst")
    e, names = program()
    target = tmp_path / f"e{suffix.upper()}"
    av.save(e, target, duration=0.02, scale=0.5)
    whole = target.read_bytes()
    assert len(whole) > 100 and names["a"].grad is None
    monkeypatch.setattr("os.replace", lambda *_: exec("raise OSError(28, 'No space left on device')"))
    with pytest.raises(av.CannotWriteError, match="No space left on device"):
        av.save(names["c"], target, duration=0.02, scale=0.5)
    assert target.read_bytes() == whole and [p.name for p in tmp_path.iterdir()] == [target.name]


def test_no_work_is_done_for_a_folder_that_is_not_there(tmp_path: Path) -> None:
    e, names = program()
    names["c"].register_hook(lambda g: pytest.fail("the pass has run"))
    with pytest.raises(av.CannotWriteError, match="does not exist"):
        av.save(e, tmp_path / "missing" / "e.gif")


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    e, _ = program()
    target = tmp_path / "e.html"
    target.write_text("old")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        av.save(e, target)
    assert target.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["e.html"]


def test_the_page_is_small_and_always_the_same(tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        av.save(program()[0], tmp_path / name)
    page = (tmp_path / "one.html").read_bytes()
    assert len(page) < 140_000 and page == (tmp_path / "two.html").read_bytes()


def test_a_page_in_a_frame_is_one_attribute() -> None:
    from html.parser import HTMLParser

    found: list[tuple[str, dict[str, Any]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append((tag, dict(attrs)))  # type: ignore[method-assign]
    e, _ = program()
    parser.feed(av.iframe(e)._repr_html_())
    ((tag, attributes),) = found
    assert (tag, attributes["sandbox"]) == ("iframe", "allow-scripts")
    assert attributes["srcdoc"].startswith("<!doctype html>") and "Content-Security-Policy" in attributes["srcdoc"]


def test_letters_that_the_font_lacks_come_from_the_system() -> None:
    def fonts(letters: str) -> int:
        return len(image.fonts_for(f"<svg><text>{letters}</text></svg>").list_fonts())

    assert [fonts(name) for name in ("a", "é", "→ ·")] == [1, 1, 1]
    assert min(fonts(name) for name in ("数据", "カ", "한", "🙂")) > 1


def test_a_file_object_gets_a_state_dict() -> None:
    file = io.BytesIO()
    av.save({"a": av.tensor(1.0)}, file)
    assert file.getvalue().startswith(b"PK")


def test_a_large_picture_is_a_png_as_sharp_as_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused tells the scale that is not; without one, that scale is taken."""
    from PIL import Image

    e, _ = program()
    monkeypatch.setattr(image, "MOST_PIXELS", 1_000_000)
    with pytest.raises(av.AutogradVizError, match="too large") as refused:
        av.save(e, tmp_path / "e.png", scale=2)
    scale = re.findall("scale of (.*) or less", str(refused.value))[0]
    av.save(e, tmp_path / "told.png", scale=float(scale))
    av.save(e, tmp_path / "e.png")
    assert (tmp_path / "e.png").read_bytes() == (tmp_path / "told.png").read_bytes()
    width, height = Image.open(io.BytesIO((tmp_path / "e.png").read_bytes())).size
    assert 800_000 < width * height <= 1_002_000  # each side is rounded to whole pixels


def test_there_are_no_half_steps(tmp_path: Path) -> None:
    x = av.tensor(2.0, requires_grad=True)
    with pytest.raises(ValueError, match=r"step must be a whole number or 'final', got 1\.5"):
        av.save(x * x, tmp_path / "a.svg", step=1.5)  # type: ignore[arg-type]


def test_a_folder_that_may_not_be_looked_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path, **_: Any) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refused)  # tests may run as root, who may look anywhere
    with pytest.raises(av.CannotWriteError, match="Permission denied"):
        av.save(av.tensor(1.0), tmp_path / "a.svg")
