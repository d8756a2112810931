"""What the page and the kernel say to each other about groups."""

from __future__ import annotations

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
