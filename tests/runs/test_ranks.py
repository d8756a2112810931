"""A run on many ranks: windows, what is odd between ranks, and files that are merged. No process is started here."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz import cli
from autograd_viz.graph.passes import TOTALS
from autograd_viz.pictures.render import THEMES
from autograd_viz.pictures.runs.grid import grid_of
from autograd_viz.pictures.runs.history import History
from autograd_viz.pictures.runs.odd import odd_in
from autograd_viz.pictures.runs.page import COLUMNS, run_page
from autograd_viz.pictures.runs.paint import Painter
from autograd_viz.pictures.runs.ranks import KEPT, STEPS, Ranks, Teller, unpack
from autograd_viz.pictures.runs.rows import Row

ROWS = [Row("", "output", "Net", 0), Row("head", "output", "Linear", 0), Row("head.weight", "parameter", "weight", 8)]


def measured(norms: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `History.add` takes them: only norms and losses were measured."""
    values = np.zeros((len(norms), 4 * len(ROWS) + len(TOTALS)), np.float32)
    seen, columns = np.zeros(values.shape, bool), [*range(len(ROWS)), 4 * len(ROWS)]
    values[:, columns], seen[:, columns] = np.column_stack([norms, losses]), True
    return values, seen


def told_by(rank: int, steps: int, size: float = 1.0, loss: float = 1.0, at: int = -1) -> list[Any]:
    """The windows of a rank, sent as bytes; at one step the head's gradient is nan."""
    norms = np.full((steps, len(ROWS)), size)
    if at >= 0:
        norms[at, 1] = np.nan
    teller = Teller(rank, len(ROWS))
    windows = [t for part in np.array_split(norms, 7) for t in teller.add(*measured(part, np.full(len(part), loss)))]
    return [unpack(t.pack()) for t in (*windows, *teller.rest())]


def joined(*ranks: list[Any]) -> Ranks:
    found = Ranks(len(ranks))
    for told in sorted((t for of in ranks for t in of), key=lambda t: (t.window, t.rank)):
        found.add(told)
    found.end()
    return found


def test_sixty_four_ranks_send_16_bytes_a_row_and_window_and_are_joined() -> None:
    ranks = [told_by(rank, 200, size=1 + rank) for rank in range(64)]
    assert {len(t.pack()) for of in ranks for t in of} == {12 + 16 * (len(ROWS) + 1)}
    found = joined(*ranks)
    assert [len(j.ranks) for j in found.joined] == [64] * 4
    first = found.joined[0]
    assert (first.least[0], first.mean[0], first.most[0], first.worst[0]) == (1, 32.5, 64, 63)
    assert found.steps == [200] * 64


def test_memory_does_not_grow_with_the_steps() -> None:
    found = joined(*(told_by(rank, STEPS * (KEPT + 40)) for rank in range(2)))
    assert len(found.joined) == KEPT
    assert found.joined[-1].window == KEPT + 39


def test_what_is_odd_between_ranks_names_the_rank() -> None:
    fine = [told_by(rank, 128) for rank in range(3)]
    said = [s for _, s in joined(*fine, told_by(3, 128, at=70)).sentences(ROWS)]
    assert said == ["head: nan or inf on rank 3 only, in steps 64 to 127."]
    said = [s for _, s in joined(*fine, told_by(3, 128, loss=50.0)).sentences(ROWS)]
    assert said == ["Rank 3 has a loss of 50; the median of all ranks is 1."]
    said = [s for _, s in joined(*fine, told_by(3, 128, size=1e4)).sentences(ROWS)]
    assert said[1] == "head: on rank 3 the gradient is 1e+04; the least of all ranks is 1."
    assert joined(*fine, told_by(3, 128)).sentences(ROWS) == []


def test_the_picture_has_a_band_of_the_losses_of_all_ranks() -> None:
    found = joined(told_by(0, 128), told_by(1, 128, loss=3.0))
    least, most = found.losses_at([0, 64, 127, 128])
    assert least.tolist()[:3] == [1.0] * 3 and most.tolist()[:3] == [3.0] * 3 and np.isnan(least[3])
    history = History(ROWS)
    history.add(*measured(np.ones((128, len(ROWS))), np.full(128, 2.0)))
    plain = Painter(history, THEMES["light"], "m", "Net").svg()
    history.ranks = found
    assert plain.count("fill-opacity") == 0
    assert Painter(history, THEMES["light"], "m", "Net").svg().count('fill-opacity="0.25"') == 128


def test_a_page_has_the_least_the_mean_and_the_most_of_each_row_over_the_ranks() -> None:
    history = History(ROWS)
    history.add(*measured(np.ones((128, len(ROWS))), np.ones(128)))
    assert run_page(history, "w", "Net", "", [], False)["ranks"] is None
    history.ranks = joined(*(told_by(rank, 128, size=2.0**rank) for rank in range(3)))
    packed = run_page(history, "w", "Net", "", [], False)["ranks"]
    first, second = np.frombuffer(base64.b64decode(packed), "<f4").reshape(2, -1)
    assert (first[0], second[0]) == (0, 64)
    shown = len(grid_of(history, odd_in(history), COLUMNS).lines)
    assert first[1:].reshape(4, shown).T.tolist() == [pytest.approx([1, 7 / 3, 4, 2])] * shown


def test_a_rank_that_is_late_or_silent_is_named_and_nobody_waits() -> None:
    found = Ranks(3)
    for told in [*told_by(0, 640), *told_by(1, 128)]:
        found.add(told)
    assert [s for _, s in found.sentences(ROWS)] == [
        "Nothing came from rank 2: is the model watched there?", "Rank 1 is 512 steps behind.",
    ]  # fmt: skip
    assert len(found.joined) == 10 - 8  # old windows are joined without the others


def saved(folder: Path, rank: int, factor: float = 1.0) -> None:
    """A run of the core, as rank `rank` writes it."""
    av.manual_seed(0)
    model = av.nn.Linear(4, 1)
    optimizer = av.optim.SGD(model.parameters(), lr=1e-6)
    with av.watch(model) as run:
        for _ in range(70):
            optimizer.zero_grad()
            (factor * model(av.ones(2, 4)) ** 2).mean().backward()
            optimizer.step()
    av.save(run, folder / f"run.rank{rank}.json")


def test_files_of_the_ranks_are_merged_and_one_that_is_being_written_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in (0, 2, 3):
        saved(tmp_path, rank, factor=1000.0 if rank == 2 else 1.0)
    (tmp_path / "run.rank1.json").write_text('{"steps": 70, "tab')
    (tmp_path / "settings.json").write_text("{}")
    assert cli.main(["merge", str(tmp_path), "-o", str(tmp_path / "job.json")]) == 0
    said = capsys.readouterr().out
    assert "run.rank1.json: left out" in said and "settings.json: left out" in said
    assert "3 ranks, 70 steps" in said
    assert "Rank 2 has a loss of" in said  # not the second of three
    assert "Nothing came from rank 1" in said
    table = json.loads((tmp_path / "job.json").read_text())
    assert set(table["step"]) == {0, 64}
    assert max(table["ranks"]) == 3


def test_two_files_of_one_rank_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path, 1)
    (tmp_path / "again.1.json").write_text((tmp_path / "run.rank1.json").read_text())
    assert cli.main(["merge", str(tmp_path)]) == 2
    assert "another file is also of rank 1" in capsys.readouterr().err


def test_a_folder_without_runs_says_what_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["merge", str(tmp_path)]) == 2
    assert "each rank writes one with av.save(run, 'run.rank3.json')" in capsys.readouterr().err


def test_each_rank_of_a_watched_script_writes_its_own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "train.py"
    script.write_text(  # a function: its optimizer ends with it, and explain() of later tests knows of none
        "import autograd_viz as av\n\ndef main():\n    m = av.nn.Linear(2, 1)\n    o = av.optim.SGD(m.parameters(), lr=0.1)\n"
        "    for _ in range(3):\n        o.zero_grad()\n        m(av.ones(1, 2)).sum().backward()\n        o.step()\n\nmain()\n"
    )
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "2")
    assert cli.main(["watch", str(script), "-o", str(tmp_path / "run.json")]) == 0
    assert cli.main(["watch", str(script), "-o", str(tmp_path / "run.html")]) == 0
    assert [p.name for p in tmp_path.glob("run*")] == ["run.rank2.json"]  # rank 0 alone has a picture


@pytest.mark.torch
@pytest.mark.parametrize("world", [1, 2])
def test_rank_0_of_a_job_of_two_collects_and_a_program_alone_does_not(world: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    run = pytest.importorskip("autograd_viz.sources.pytorch.ranks.run")

    class Silent:
        """A channel on which nobody else speaks."""

        def __init__(self, what: str, said: str) -> None:
            self.rank, self.world, self.others = 0, world, dict[int, str]()

        def heard(self) -> list[bytes]:
            return []

        def end(self) -> None:
            pass

    monkeypatch.setattr(run, "Channel", Silent)
    with av.watch(torch.nn.Linear(2, 1)) as watched:
        assert getattr(watched.history.ranks, "world", 1) == world
        assert (watched.history.ranks is None) == (world == 1)
