"""The page stops a run where Python does: static/pass/stops.js has the rules of stepper/stops.py."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph.codec import to_plain
from autograd_viz.stepper.stops import FLAGS, RULES, Fact, Facts, Stop, meets

STOPS = Path(av.__file__).parent / "widget" / "static" / "pass" / "stops.js"
PROGRAM = f"""
import {{ meets }} from {json.dumps(STOPS.as_uri())};
const {{ traces, stops }} = JSON.parse(await new Response(process.stdin).text());
const met = (frames, stop) => frames.map(({{ flags }}, i) => meets(stop, flags, i, (k) => frames[k].facts));
console.log(JSON.stringify(traces.map((frames) => stops.map((stop) => met(frames, stop)))));
"""
NODES = ("n0", "n1", "n2", "")
NORMS = (0.0, 0.5, 1.0, 2.0, 3.0, float("inf"), float("nan"))


def a_fact(choose: random.Random) -> Fact | None:
    return None if choose.random() < 0.2 else Fact(choose.choice(NORMS), choose.choice((-1, 0, 1)), choose.choice(("", "2.0")))


def some_facts(choose: random.Random) -> Facts:
    ends = tuple(choose.choice(NODES) for _ in range(choose.randrange(3)))
    came = tuple(a_fact(choose) for _ in range(choose.randrange(1, 3)))
    sent = came if choose.random() < 0.5 else tuple(a_fact(choose) for _ in range(choose.randrange(3)))
    grads = tuple((f"t{k}", a_fact(choose), a_fact(choose)) for k in range(choose.randrange(2)))
    left = tuple(a_fact(choose) for _ in ends)
    return Facts(choose.choice(NODES[:3]), ends, tuple(f for f in sent if f is not None), came, left, grads)


def every_stop() -> list[Stop]:
    limits = [Stop(kind, number=number) for kind in ("above", "below") for number in (0.5, 1, 2.5)]
    arrivals = [Stop("arrival", "n1", number) for number in (1, 2, 3)]
    return [Stop("nan"), Stop("zero"), Stop("condition"), Stop("sign"), Stop("grad", "n1"), *limits, *arrivals]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_page_and_python_stop_after_the_same_steps() -> None:
    choose, stops = random.Random(0), every_stop()
    assert {stop.kind for stop in stops} == {*FLAGS, *RULES}
    flags = [flag for some in FLAGS.values() for flag in some]
    traces = [[(some_facts(choose), choose.sample(flags, choose.randrange(3))) for _ in range(6)] for _ in range(200)]
    plain = [[{"facts": facts.plain(), "flags": f} for facts, f in trace] for trace in traces]
    told = json.dumps({"traces": plain, "stops": to_plain(tuple(stops))}, allow_nan=False)
    done = subprocess.run(
        ["node", "--input-type=module", "-e", PROGRAM], input=told, capture_output=True, text=True, check=True
    )
    page: list[Any] = json.loads(done.stdout)
    for trace, on_page in zip(traces, page, strict=True):
        facts = [facts for facts, _ in trace]
        assert on_page == [[meets(stop, f, i, facts.__getitem__) for i, (_, f) in enumerate(trace)] for stop in stops]
    for k, stop in enumerate(stops):
        met = [here for trace in page for here in trace[k]]
        assert any(met) and not all(met), stop
