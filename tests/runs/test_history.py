"""The numbers of a run in constant memory, and what is odd in them."""

from __future__ import annotations

import numpy as np
import pytest

from autograd_viz.graph.passes import STATISTICS, TOTALS
from autograd_viz.pictures.runs.grid import grid_of, lines_of
from autograd_viz.pictures.runs.history import BINS, WHOLE, History, Series
from autograd_viz.pictures.runs.odd import odd_in, sentences
from autograd_viz.pictures.runs.plot import decades, ticks
from autograd_viz.pictures.runs.rows import Row


def filled(values: np.ndarray, columns: int = 1) -> Series:
    series = Series(columns)
    for part in np.array_split(values, max(1, len(values) // 64)):
        series.add(part.reshape(-1, columns), np.ones((len(part), columns), bool))
    return series


def test_the_last_steps_are_whole_and_older_ones_are_joined() -> None:
    values = np.arange(5000, dtype=np.float32)
    spans = filled(values).spans()
    assert spans.start[-1] == 4999
    assert (np.diff(spans.start[-WHOLE:]) == 1).all()
    assert spans.least[0, 0] == 0
    widths = np.diff(np.append(spans.start, 5000))
    means = [values[s : s + w].mean() for s, w in zip(spans.start, widths, strict=True)]
    assert np.allclose(spans.mean[:, 0], means)
    assert (spans.most[:, 0] == spans.start + widths - 1).all()


def test_a_hundred_thousand_steps_take_the_memory_of_two_thousand() -> None:
    spans = filled(np.zeros(100_000, np.float32)).spans()
    assert len(spans.start) <= 2 * WHOLE + BINS


def test_what_is_not_finite_is_counted_and_left_out_of_the_mean() -> None:
    series = filled(np.array([1, np.nan, 3, np.inf], np.float32))
    spans = series.spans()
    assert spans.bad[:, 0].tolist() == [0, 1, 0, 1]
    assert np.isnan(spans.mean[1, 0])
    series.add(np.array([[7.0]], np.float32), np.zeros((1, 1), bool))
    assert np.isnan(series.last(1)).all()  # it was not measured


def history_of(**norms: list[float]) -> History:
    history = History([Row(f"{name}.weight", "parameter", "weight", 4) for name in norms])
    values = np.array(list(norms.values()), np.float32).T
    seen = ~np.isnan(values) | np.isnan(values) & (values != -1)
    others = np.full_like(values, np.nan), seen & (values != -1)
    add(history, norm=(values, seen & (values != -1)), largest=others, zeros=others, update=others)
    return history


def add(history: History, **numbers: tuple[np.ndarray, np.ndarray]) -> None:
    """Steps in which these statistics were measured, and all totals are 1."""
    steps, count = len(numbers["norm"][0]), len(history.rows)
    values = np.ones((steps, 4 * count + len(TOTALS)), np.float32)
    seen = np.ones(values.shape, bool)
    seen[:, : 4 * count] = False
    for name, (given, measured) in numbers.items():
        first = STATISTICS.index(name) * count
        values[:, first : first + count], seen[:, first : first + count] = given, measured
    history.add(values, seen)


def test_each_oddity_has_its_sentence_and_the_worst_is_first() -> None:
    history = history_of(
        fine=[1.0] * 8,
        dead=[0.0] * 8,
        never=[-1.0] * 8,
        faint=[1e-6] * 8,
        jumps=[0.5] * 7 + [5000.0],
        broken=[1.0] * 7 + [np.nan],
    )
    found = {history.rows[o.row].module: o.kind for o in odd_in(history)}
    assert found == {"broken": "bad", "never": "none", "dead": "zero", "jumps": "burst", "faint": "faint"}
    assert odd_in(history)[0].sentence == "broken.weight: the gradient was nan or inf, first in step 7 (1 in all)."


def test_of_rows_with_nan_that_which_had_it_first_leads_however_long_ago() -> None:
    ones, nan = [1.0] * 3000, float("nan")
    late, early = ones.copy(), ones.copy()
    late[1500:] = [nan] * 1500
    early[7] = nan
    assert [o.sentence for o in odd_in(history_of(late=late, early=early))] == [
        "early.weight: the gradient was nan or inf, first in step 7 (1 in all).",
        "late.weight: the gradient was nan or inf, first in step 1,500 (1,500 in all).",
    ]


def test_a_large_update_is_odd_where_many_elements_move() -> None:
    history = History([Row("many", "parameter", "weight", 64), Row("few", "parameter", "bias", 1)])
    ones = np.ones((8, 2), np.float32)
    add(history, norm=(ones, ones > 0), update=(ones / 2, ones > 0))
    assert [(o.row, o.kind) for o in odd_in(history)] == [(0, "wild")]


def test_what_only_every_64th_step_measures_is_judged_by_what_was_measured_last() -> None:
    history = History([Row("moves", "parameter", "weight", 64), Row("dead", "output", "ReLU", 0)])
    for step in range(64 * 6):
        values, seen = np.array([[1.0, 0.0]], np.float32), np.array([[True, step % 64 == 0]])
        update = values / 2, np.array([[step % 64 == 0, False]])
        add(history, norm=(values, seen), update=update)
    assert [(o.row, o.kind) for o in odd_in(history)] == [(1, "zero"), (0, "wild")]


def test_a_bias_whose_gradient_cancels_is_no_fault() -> None:
    for weight, kinds in ((1.0, []), (0.0, ["zero", "zero"])):
        for bias in (0.0, 1e-8 * weight):
            history = History([Row("a.weight", "parameter", "weight", 64), Row("a.bias", "parameter", "bias", 8)])
            norms = np.tile(np.float32([weight, bias]), (8, 1))
            add(history, norm=(norms, np.ones((8, 2), bool)))
            assert [o.kind for o in odd_in(history)] == kinds


def test_where_one_row_jumps_the_others_are_not_faint() -> None:
    history = history_of(jumps=[1.0] * 7 + [1e7], steady=[1.0] * 8)
    assert [(history.rows[o.row].module, o.kind) for o in odd_in(history)] == [("jumps", "burst")]


def test_rows_with_the_same_oddity_share_a_sentence() -> None:
    history = history_of(a=[0.0] * 8, b=[0.0] * 8, c=[1.0] * 8)
    assert sentences(history, odd_in(history)) == [
        (0, "a.weight: its last 5 gradients are all zero. Likewise 1 more: b.weight.")
    ]


def test_a_heat_map_has_one_row_for_each_module() -> None:
    rows = [
        Row("0", "output", "Linear", 0), Row("0.weight", "parameter", "weight", 9), Row("0.bias", "parameter", "bias", 3),
        Row("1.weight", "parameter", "weight", 9),
    ]  # fmt: skip
    assert [line.row for line in lines_of(rows)] == [1, 3]


def test_rows_stand_in_the_order_of_the_model_and_odd_ones_are_marked() -> None:
    history = history_of(a=[1.0] * 8, b=[0.0] * 8, c=[1.0] * 8)
    lines = lines_of(history.rows, odd_in(history))
    assert [(line.heading, line.is_odd) for line in lines] == [("a", False), ("b", True), ("c", False)]


def test_a_row_that_no_gradient_reached_is_told_from_one_with_gaps() -> None:
    rows = [Row(f"{name}.weight", "parameter", "weight", 9) for name in "abc"]
    history = History(rows)
    seen = np.array([[True, step > 3, False] for step in range(8)])
    add(history, norm=(np.ones((8, 3), np.float32), seen))
    grid = grid_of(history)
    assert grid.reached.tolist() == [True, True, False]
    assert grid.has_gaps
    whole = grid_of(history_of(a=[1.0] * 8))
    assert whole.reached.tolist() == [True]
    assert not whole.has_gaps
    assert grid_of(History(rows)).reached.all()  # before the first step nothing is said


def test_a_run_that_explodes_leaves_its_usual_norms_their_colours() -> None:
    usual = np.array([[0.1, 1.0] * 10 + [1e25, 1e30]], np.float32)
    assert decades(usual) == (-1, 3)
    fading = np.array([[10.0**-k] * 5 for k in range(12)], np.float32)  # every layer is on the scale
    assert decades(fading) == (-11, 0)


def moved_by(share: float, steps: int) -> History:
    history, seen = History([Row("a.weight", "parameter", "weight", 99)]), np.ones((steps, 1), bool)
    add(history, norm=(np.ones((steps, 1), np.float32), seen), update=(np.full((steps, 1), share, np.float32), seen))
    return history


def test_a_large_update_of_the_first_steps_is_not_odd() -> None:
    assert odd_in(moved_by(0.5, 2)) == []
    assert [o.kind for o in odd_in(moved_by(0.5, 8))] == ["wild"]


def test_a_spike_is_not_lost_in_a_wide_column() -> None:
    values = [1.0] * 400
    values[123] = 77.0
    grid = grid_of(history_of(a=values), most_columns=10)
    assert grid.norms.max() == 77
    assert len(grid.start) == 10


@pytest.mark.parametrize(
    ("steps", "written"), [(0, []), (1, [0]), (7, [0, 2, 4, 6]), (100, [0, 20, 40, 60, 80]), (12345, [0, 5000, 10000])]
)
def test_about_five_round_steps_are_written(steps: int, written: list[int]) -> None:
    assert [*ticks(steps)] == written
