"""The picture of a run: in a cell, as a file, as a page."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .loops import made, train  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def run() -> Any:
    model, optimizer = made()
    with av.watch(model) as run:
        train(model, optimizer, 3)
        optimizer.param_groups[0]["lr"] = 0.5
        train(model, optimizer, 3)
    return run


def test_the_picture_names_modules_loss_and_rates(run: Any) -> None:
    for said in ("watch(", "Net · 6 steps", ">head<", "loss", "rate 0.05 → 0.5", "norm of the gradient"):
        assert said in run.svg


def test_it_speaks_chinese(run: Any) -> None:
    av.set_language("zh")
    try:
        assert "梯度的范数" in run.svg
        assert "Net · 6 步" in run.svg
    finally:
        av.set_language("en")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf", "html", "json", "csv"])
def test_it_is_saved(run: Any, suffix: str, tmp_path: Path) -> None:
    av.save(run, tmp_path / f"run.{suffix}")
    assert (tmp_path / f"run.{suffix}").stat().st_size > 1000


def test_it_is_saved_in_a_theme(run: Any, tmp_path: Path) -> None:
    av.save(run, tmp_path / "run.svg", theme="dark")
    assert (tmp_path / "run.svg").read_text() == run.svg_in("dark") != run.svg
    assert list(run.page("dark")["palettes"]) == ["dark"]
    assert list(run.page()["palettes"]) == ["light", "dark"]


def test_the_json_has_every_number(run: Any, tmp_path: Path) -> None:
    av.save(run, tmp_path / "run.json")
    saved = json.loads((tmp_path / "run.json").read_text())
    assert saved["steps"] == 6
    assert len(saved["totals"]["loss"]) == 6
    assert {"head.weight", "body.1.bias"} <= set(saved["table"]["path"])


def test_a_page_that_is_saved_while_the_loop_runs_is_not_live(tmp_path: Path) -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        train(model, optimizer, 2)
        assert run.page()["is_live"]
        av.save(run, tmp_path / "run.html")
    blocks = re.findall(r"H4sI[\w+/=]+", (tmp_path / "run.html").read_text())
    assert '"is_live":false' in "".join(gzip.decompress(b64decode(block)).decode() for block in blocks)


def test_other_suffixes_are_refused(run: Any, tmp_path: Path) -> None:
    with pytest.raises(av.UnknownChoiceError, match=r"\.gif"):
        av.save(run, tmp_path / "run.gif")


def test_the_widget_follows_the_loop_and_opens_a_step() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        run.keep(every=4)
        widget = run.widget()
        widget._due = 0
        train(model, optimizer, 2)
        assert widget.data["steps"] == 1  # the second step ends with the next pass
        widget._heard(widget, {"kind": "open", "step": 0, "theme": "light"}, [])
        assert widget.opened["svg"]
        assert widget.opened["said"] == "The pass of step 0, run again. run.step(0) steps it."
        widget._heard(widget, {"kind": "open", "step": -1, "theme": "dark"}, [])
        assert b64decode(widget.opened["svg"]).decode() == run.map(theme="dark").svg
        assert widget.opened["said"] == "The last pass, run again. run.step() steps it."
        widget._heard(widget, {"kind": "open", "step": 9, "theme": "light"}, [])
        assert "step 9 was not kept" in widget.opened["said"]
        before, widget._due = widget.data, float("inf")
        train(model, optimizer, 3)
        assert widget.data is before  # it is too early
    assert widget.data["steps"] == 5
    assert not widget.data["is_live"]


def test_the_first_repaint_which_loads_modules_does_not_put_off_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 130.0, 140.0, 141.0])
    monkeypatch.setattr("autograd_viz.widget.data_widgets.perf_counter", lambda: next(clock))
    model, _ = made()
    with av.watch(model) as run:
        widget = run.widget()
        widget.follow()
        assert widget._due == 130.5
        widget.follow()
        assert widget._due == 241.0  # a later one of a second takes a hundredth of the time


def test_the_widget_shows_the_last_steps_when_their_cell_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from IPython.core.events import EventManager

    class Shell:
        events: Any = None

    shell = Shell()
    shell.events = EventManager(shell, {"post_run_cell": lambda result: None})  # type: ignore[no-untyped-call]
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    model, optimizer = made()
    with av.watch(model) as run:
        widget = run.widget()
        widget._due = float("inf")
        train(model, optimizer, 3)
        assert widget.data["steps"] == 0
        shell.events.trigger("post_run_cell", None)
        assert widget.data["steps"] == 3


def test_what_is_odd_stands_above_the_rows_and_an_unreached_row_is_named() -> None:
    class Part(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head, self.spare = nn.Linear(4, 1), nn.Linear(4, 4)

        def forward(self, x: Any, scale: float = 1.0) -> Any:
            return self.head(x) * scale

    model, optimizer = made(Part)
    with av.watch(model) as run:
        train(model, optimizer, 6)
    svg, rows = run.svg, run.page()["rows"]
    assert svg.index("no gradient has ever arrived") < svg.index(">no gradient arrived<") < svg.index(">head<")
    assert [(row["heading"], row["odd"], row["reached"]) for row in rows] == [("head", False, True), ("spare", True, False)]


def test_a_healthy_run_names_nothing_that_is_not_there(run: Any) -> None:
    for said in ("no gradient", "not measured", "nan or inf", "all zero"):
        assert said not in run.svg


def test_the_first_step_has_a_picture_and_no_verdict() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        train(model, optimizer, 1)
        page = run.page()
    assert page["start"] == [0] and not page["is_judged"]
    assert "Nothing is odd" not in run.svg


def test_an_empty_run_has_a_picture() -> None:
    with av.watch(nn.Linear(2, 2)) as run:
        assert "no step yet" in run.svg
        assert "0 steps" in repr(run)
