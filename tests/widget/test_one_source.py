"""What widgets cost in a notebook: the source of a front end is stored once for all widgets of a kind."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from ipywidgets import Widget
from ipywidgets.embed import dependency_state

import autograd_viz as av
from autograd_viz.lessons import ask
from autograd_viz.widget.modules import joined_modules

A_SMALL_PASS = 45_000  # bytes: its picture in three details, and its frames


@pytest.fixture(autouse=True)
def no_widgets() -> Any:
    Widget.close_all()
    yield
    Widget.close_all()


def steppers(count: int) -> list[Any]:
    made = []
    for _ in range(count):
        a = av.tensor(2.0, requires_grad=True)
        made.append(av.step(a * a))
        made[-1].finish()
    return made


def state_of(*widgets: Any) -> dict[str, Any]:
    """What a notebook stores: each model's state."""
    assert all(w.model_id for w in widgets)
    return dict(Widget.get_manager_state()["state"])


def test_ten_steppers_cost_their_passes_and_the_source_once() -> None:
    one = len(str(state_of(*steppers(1))))
    more = len(str(state_of(*steppers(10))))
    assert (more - one) / 10 < A_SMALL_PASS < len(joined_modules()) / 5


def test_every_kind_of_widget_names_a_model_that_holds_its_source() -> None:
    a = av.tensor(2.0, requires_grad=True)
    shown = [*steppers(2), ask.grad(a, of=a * a), ask.grad(a, of=a * 3)]
    state = state_of(*shown)
    named = [state[w.model_id]["state"]["front_end"].removeprefix("IPY_MODEL_") for w in shown]
    assert named[0] == named[1] != named[2] == named[3]
    assert [state[at]["state"]["kind"] for at in named[::2]] == ["stepper", "question"]
    assert state[named[0]]["state"]["source"] == joined_modules()


def test_what_a_saved_page_needs_of_a_stepper_has_the_source() -> None:
    first, second = steppers(2)
    state_of(first)
    state = dependency_state([second], drop_defaults=False)  # anywidget's models need their defaults
    assert [s["state"]["source"] for s in state.values() if "source" in s["state"]] == [joined_modules()]
    named = state[second.model_id]["state"]["front_end"].removeprefix("IPY_MODEL_")
    assert "source" in state[named]["state"] and first.model_id not in state


def test_a_closed_stepper_leaves_the_source_to_the_others() -> None:
    first, second = steppers(2)
    state_of(first, second)
    first.close()
    assert not second.front_end.is_closed and second.front_end.source


def test_steppers_made_before_all_widgets_were_closed_have_a_source_when_shown() -> None:
    shown, late = steppers(2)
    state_of(shown)
    Widget.close_all()
    assert not state_of(late)[late.model_id]["state"]["front_end"].endswith("None")
    assert not late.front_end.is_closed and late.front_end is not shown.front_end


def test_in_marimo_each_widget_has_its_own_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "marimo", SimpleNamespace(running_in_notebook=lambda: True))  # type: ignore[arg-type]
    (s,) = steppers(1)
    state = state_of(s)
    assert len(state) == 2 and state[s.model_id]["state"]["_esm"] == joined_modules()  # the other is its layout
    assert ".av-root" in state[s.model_id]["state"]["_css"]
