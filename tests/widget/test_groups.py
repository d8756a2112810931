"""What the page and the kernel say to each other about groups."""

from __future__ import annotations

import math

import pytest

import autograd_viz as av
from autograd_viz.widget.widget import StepperWidget


@pytest.fixture
def widget() -> StepperWidget:
    h = av.tensor([1.0, -1.0], requires_grad=True)
    with av.scope("body"):
        for _ in range(3):
            h = (h * 0.5).sin()
    return av.step((h * h).sum(), collapse=True)


def group_of(widget: StepperWidget) -> str:
    return next(n.id for n in widget.drawing.shown.document.nodes if n.members)


def breakpoints(widget: StepperWidget) -> list[str]:
    return [stop["node"] for stop in widget.shown_stops]


def test_a_breakpoint_at_a_group_stops_before_the_first_of_its_nodes_and_shows_where_that_is(widget: StepperWidget) -> None:
    group = group_of(widget)
    widget.shown_stops = [{"kind": "node", "node": group}]
    widget.run()
    assert widget.step == 2 and widget.stopped == "breakpoint at SinBackward0 (h)"
    assert breakpoints(widget) == [group]
    hidden = widget.stepper.next_node
    widget.expand("body")
    assert breakpoints(widget) == [widget.drawing.shown.shown[hidden]] != [group]
    widget.expand(hidden)
    assert hidden in breakpoints(widget)
    widget.shown_stops = []
    assert not widget.stepper.stops.nodes


def test_steps_that_have_run_are_told_anew_when_a_group_is_opened(widget: StepperWidget) -> None:
    for _ in range(4):
        widget.next()
    group = group_of(widget)
    assert [f["node"] for f in widget.frames][2:] == [group, group]
    grads = widget.frames[0]
    widget.expand("body")
    assert len(widget.frames) == 4 and widget.frames[0] == grads
    assert group not in [f["node"] for f in widget.frames]


def test_a_group_that_is_not_there_is_refused_with_the_names_of_those_that_are(widget: StepperWidget) -> None:
    with pytest.raises(ValueError, match=r"no collapsed group is or contains 'tail'; groups in the picture: body"):
        widget.expand("tail")
    assert "'tail'" in widget.error
    with pytest.raises(ValueError, match=r"there is no group 'tail'; open groups: none"):
        widget.collapse("tail")


def layers() -> tuple[StepperWidget, av.Tensor, av.Tensor]:
    """Three layers that share w; the first layer takes it first."""
    w = av.tensor(0.5, requires_grad=True)
    h = av.tensor([1.0, -1.0], requires_grad=True)
    for i in range(3):
        with av.scope(f"layer{i}"):
            h = (h * w).sin().exp()
    s = av.step((h * h).sum(), collapse=True)
    s.expand(group_of(s))
    return s, w, h


def test_leave_runs_a_closed_group_whole_for_real_and_says_what_it_did() -> None:
    s, w, h = layers()
    s.goto(2)
    s.leave("layer2")
    came, left = (
        (h.detach() * 2).norm().item(),
        math.hypot(*(n for g in s.stepper.recorded[4].grad_inputs if g for n in g.numbers)),
    )
    said = f"layer2: 3 calls; a gradient of norm {came:.3g} arrived, {left:.3g} left; gradients of parameters: 0"
    assert (s.step, s.did) == (5, said)
    assert s.frames[s.step - 1]["did"] == {s.frames[4]["node"]: s.did}
    s.leave("layer1")
    s.leave("layer0")  # with the AccumulateGrad of w, and of h
    assert s.complete and w.grad is not None and "gradients of parameters: 2" in s.did
    with pytest.raises(ValueError, match="'layer0' has no backward node that is still to run"):
        s.leave("layer0")
    with pytest.raises(ValueError, match="no group is called 'tail'; groups in the picture: layer0"):
        s.leave("tail")


def test_into_opens_the_group_that_is_next_and_looks_at_its_first_node_without_running_it() -> None:
    s, *_ = layers()
    s.goto(2)
    s.into()
    assert s.step == 2 and s.picture["look"] == s.stepper.next_node
    s.into()  # a node is no group
    assert s.step == 2
    s.next()
    s._asked(s, {"kind": "leave", "id": s.picture["groups"]["of"][s.stepper.trace.steps[2].node]}, [])
    assert s.step == 5 and s.did.startswith("layer2: 3 calls")


def test_in_a_group_the_frame_names_the_member_that_ran_and_those_that_are_ready(widget: StepperWidget) -> None:
    widget.goto(4)
    sin, mul = widget.frames[2:]
    assert (sin["ran"], sin["ready"]) == ("SinBackward0 (h)", [(group_of(widget), "MulBackward0 (Mul(…, 0.5))")])
    assert mul["ran"] == "MulBackward0 (Mul(…, 0.5))" and mul["step"]["formulas"][0]["text"].startswith("grad * other")
    assert widget.frames[0]["ran"] == ""
    assert widget.picture["ready"] == []


def test_a_saved_page_knows_what_each_group_did(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograd_viz.widget import html

    s, *_ = layers()
    s.finish()
    recording = html._recording(s.stepper, "light", 0, s.drawing)
    assert [f["did"] for f in recording["frames"]] == [f["did"] for f in s.frames]
    assert sum(bool(f["did"]) for f in recording["frames"]) >= 3
