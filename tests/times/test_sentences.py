"""What a timing says, of numbers that are given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

import autograd_viz as av
from autograd_viz.graph.timing import Bare, Half, Timing
from autograd_viz.pictures.times.report import Report, speedscope_json, spread, time_text
from autograd_viz.twin import nn
from autograd_viz.verbs.timing import Time


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    av.set_language("en")


def report(forward: float = 1.0, backward: float = 1.0, whole: float = 4.0, parted: float = 4.0, bare: float = 0.0) -> Report:
    """Of a Linear and a Tanh: so many seconds for each op, each node, and each half of a pass."""
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    loss = model(av.ones(1, 2)).sum()
    document = av.map(loss).document
    ids = [n.id for n in document.nodes if n.op is not None]
    more = (Bare("0", "aten.arange", (bare, bare, bare), 0),) if bare else ()
    halves = [
        Half(dict.fromkeys(ids, (s, s, 2 * s)), dict.fromkeys(ids, 10), (whole, whole, whole), (parted, parted, parted), rest)
        for s, rest in ((forward, more), (backward, ()))
    ]
    assert len(ids) == 4
    return Report(document, Timing(*halves, "cpu"))


def test_parts_that_add_up_are_not_spoken_of() -> None:
    first, *most = report().sentences()
    assert first == "Forward 4 s ± 0 ns, backward 4 s ± 0 ns: median of 3 passes on cpu."
    assert len(most) == 2 and most[1].startswith("Of the modules without parts, 0 takes most")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"forward": 0.9}, "400 ms (10%) of the forward pass are outside its ops."),
        ({"backward": 0.9}, "400 ms (10%) of the backward pass are outside its nodes."),
        ({"forward": 1.1}, "The parts of the forward pass add up to 110% of it: timed one by one, they took longer."),
        ({"parted": 6.0}, "Passes whose parts were timed took 1.5 times as long."),
    ],
)
def test_what_does_not_add_up_is_said(made: dict[str, float], said: str) -> None:
    assert report(**made).sentences()[3:] == [said]
    assert len(report(forward=0.96, backward=1.04, parted=4.7).sentences()) == 3


def test_a_loss_has_no_forward_half_and_compiled_code_no_parts() -> None:
    both = report()
    backward = both.timing.backward
    assert "has run already" in Report(both.document, Timing(None, backward, "cpu")).sentences()[1]
    compiled = Half({}, {}, (4.0,), (4.0,))
    assert "which has no parts here" in " ".join(Report(both.document, Timing(compiled, backward, "cpu")).sentences())


@pytest.mark.parametrize("by", ["module", "op", "line", "node"])
def test_every_table_adds_up(by: str) -> None:
    rows = report(bare=0.5).table(by)
    whole = rows[0]["seconds"] if by == "module" else sum(row["seconds"] for row in rows)
    times = [row["seconds"] for row in rows]
    assert whole == pytest.approx(8.5) and times == sorted(times, reverse=True)
    flops = rows[0]["flops"] if by == "module" else sum(row["flops"] for row in rows)
    assert flops == 80


def test_a_module_counts_what_is_inside_it() -> None:
    rows = {row["module"]: row for row in report(bare=0.5).table("module")}
    assert rows["0"]["seconds"] == pytest.approx(4.5) and rows["0"]["class"] == "Linear"  # two ops, two nodes, and a bare op
    assert rows["1"]["forward"] == rows["1"]["backward"] == 1.0 and rows["1"]["share"] == pytest.approx(2 / 8.5)
    with pytest.raises(av.UnknownChoiceError, match="unknown table 'modules'"):
        report().table("modules")


def test_a_map_has_a_bar_and_the_time_of_each_card() -> None:
    time = Time(report(), "auto")
    assert "4 s · 50% · 40 FLOP" in time.svg and "2 s · 25%" in time.svg and ">forward<" in time.svg
    assert "norm" not in time.svg  # the legend of gradients
    av.set_language("zh")
    svg = Time(report(), "dark").svg
    assert "反向传播" in svg and "Forward" not in svg and "takes most" not in svg


def test_no_share_is_above_100_percent_where_halves_took_long_in_turn() -> None:
    one = report()
    ids = list(one.timing.backward.seconds)
    odd = [Half(dict.fromkeys(ids, times), {}, (8.0,) * 3, (8.0,) * 3) for times in ((1.0, 1.0, 9.0), (1.0, 9.0, 1.0))]
    assert max(row["share"] for row in Report(one.document, Timing(*odd, "cpu")).table("module")) == 1.0


def test_parts_that_took_longer_than_the_pass_are_shares_of_their_sum() -> None:
    noisy = report(forward=3.0, backward=30.0)
    assert [row["share"] for row in noisy.table("module")] == pytest.approx(
        [1.0, 0.5, 0.25, 0.25][: len(noisy.table("module"))]
    )
    bars = [float(wide) for wide in re.findall(r'width="([\d.]+)" height="4"', Time(noisy, "light").svg)]
    widest = max(float(wide) for wide in re.findall(r'<rect [^>]*width="([\d.]+)" height="\d\d', Time(noisy, "light").svg))
    assert bars and max(bars) <= widest


def test_a_flame_chart_has_the_frames_and_weights_of_each_half() -> None:
    file = json.loads(speedscope_json(report(bare=0.5), "f"))
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json" and len(file["profiles"]) == 2
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    for profile, whole in zip(file["profiles"], (4.5, 4.0), strict=True):
        assert sum(profile["weights"]) == profile["endValue"] == pytest.approx(whole) and profile["type"] == "sampled"
        assert len(profile["samples"]) == len(profile["weights"])
    ahead, back = ([[frames[k] for k in sample] for sample in p["samples"]] for p in file["profiles"])
    assert [stack[-1] for stack in ahead] == ["T", "Addmm", "Tanh", "Sum", "aten.arange"]
    assert [stack[-1] for stack in back] == ["SumBackward0", "TanhBackward0", "AddmmBackward0", "TBackward0"]
    assert ahead[1] == ["Sequential", "0 Linear", "Addmm"]


def test_times_are_said_with_three_digits() -> None:
    assert [time_text(t) for t in (1.5, 0.0123456, 3.2e-5, 5e-8, 0.0)] == ["1.5 s", "12.3 ms", "32 µs", "50 ns", "0 ns"]
    assert spread((1.0, 2.0, 3.0, 4.0, 5.0)) == 2.0 and spread((1.0,)) == 0.0
