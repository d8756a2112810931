"""The options of all verbs: a value of a wrong type or size is refused by name."""

from __future__ import annotations

import inspect
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz import twin
from autograd_viz.verbs.watch import Run


class Odd:
    """Nothing that a verb knows."""

    def __repr__(self) -> str:
        return "<Odd>"


ODD = Odd()
NET = av.nn.Linear(2, 1)
THEME, PARAMS, FLAG = [5, "blue", [], None], [5, "x", ODD], ["yes", 2.5, [], 3]
DETAIL = ["much", 5, None, []]
SIZE = ["2", ODD, 0, -1, math.nan, math.inf, True]


def loss() -> Any:
    return NET(av.ones(4, 2)).square().sum()


def watched(**options: Any) -> None:
    av.watch(**{"model": NET, **options}).close()


def run(verb: str, **options: Any) -> None:
    with av.watch(NET) as watched_run:
        getattr(watched_run, verb)(**options)


VERBS: dict[str, tuple[Callable[..., Any], dict[str, list[Any]]]] = {
    "show": (lambda **o: av.show(loss(), **o), {"params": PARAMS, "theme": THEME, "collapse": FLAG, "detail": DETAIL}),
    "map": (
        lambda **o: av.map(loss(), **o),
        {
            "depth": ["2", 2.5, -1, ODD, True],
            "open": [5, [5], ODD, None],
            "params": PARAMS,
            "theme": THEME,
            "gradient": ["x", ODD, 2],
        },
    ),
    "step": (
        lambda **o: av.step(loss(), **o),
        {
            "gradient": ["x", ODD, 2],
            "retain_graph": ["yes", ODD],
            "create_graph": ["no", None],
            "params": PARAMS,
            "theme": THEME,
            "collapse": FLAG,
            "detail": DETAIL,
        },
    ),
    "diff": (
        lambda **o: av.diff(loss(), loss(), **o),
        {"rtol": ["x", ODD, -1.0], "atol": [[], math.nan], "params": PARAMS, "theme": THEME},
    ),
    "memory": (lambda **o: av.memory(loss(), **o), {"budget": ["much", ODD, -1, 1.5], "params": PARAMS, "theme": THEME}),
    "compare": (lambda **o: av.compare(av.step(loss()), **o), {"titles": [5, "ab", [5], None], "detail": ["much", 5]}),
    "record": (lambda **o: av.record(**o), {"what": [5, "x", [1]]}),
    "watch": (
        watched,
        {"model": [ODD, [], 2.5], "keep": ["much", ODD, -1, None, 1.5], "stop": FLAG, "theme": THEME, "probe": [ODD, 5, "x"]},
    ),
    "explain": (
        lambda **o: av.explain(**{"what": NET.weight, **o}),
        {"what": [5, "x", ODD], "loss": [5, "x", ODD], "show": FLAG, "theme": THEME},
    ),
    "save": (
        lambda **o: av.save(**{"x": loss(), "path": Path(tempfile.gettempdir()) / "x.svg", **o}),
        {
            "path": [5, None, ODD],
            "step": ["x", ODD, []],
            "params": PARAMS,
            "theme": THEME,
            "scale": SIZE,
            "duration": SIZE,
            "collapse": FLAG,
            "detail": DETAIL,
            "steps": ["all", [], [0.5], 5, None],
        },
    ),
    "iframe": (
        lambda **o: av.iframe(loss(), **o),
        {"params": PARAMS, "theme": THEME, "height": ["700", ODD, 0, -5, None, 2.5], "collapse": FLAG},
    ),
    "to_graphviz": (lambda **o: av.to_graphviz(loss(), **o), {"step": ["x", ODD, []], "params": PARAMS, "theme": THEME}),
    "load": (lambda **o: av.load(**o), {"path": [5, None, ODD, []]}),
    "set_language": (lambda **o: av.set_language(**o), {"name": [5, "xx", None, []]}),
    "Run.keep": (lambda **o: run("keep", **o), {"every": ["5", 2.5, 0, ODD], "when": [5, "x"]}),
    "Run.step": (lambda **o: run("step", **o), {"k": ["x", [], 2.5], "theme": THEME, "collapse": FLAG}),
    "Run.map": (lambda **o: run("map", **o), {"k": ["x", [], 2.5], "theme": THEME}),
}
CASES = [
    (verb, option, value) for verb, (_, options) in VERBS.items() for option, values in options.items() for value in values
]
CALLED = {
    "name": "language",
    "gradient": "gradients",
    "model": "watch(model)",
    "path": "path",
    "loss": "explain",
    "what": "takes",
}
UNCHECKED = {"a", "b", "of_the_op", "map_location", "weights_only", "input", "tensor", "x", "steppers"}


@pytest.mark.parametrize(("verb", "option", "value"), CASES, ids=[f"{v}({o}={x!r})" for v, o, x in CASES])
def test_a_wrong_option_is_refused_by_name(verb: str, option: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        VERBS[verb][0](**{option: value})
    assert option in str(caught.value) or CALLED[option] in str(caught.value)


def test_the_table_has_every_option() -> None:
    for name, (_, options) in VERBS.items():
        verb = getattr(Run, name[4:]) if name.startswith("Run.") else getattr(av, name)
        assert set(inspect.signature(verb).parameters) - {"self"} - UNCHECKED == set(options) - UNCHECKED, name


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    av.map(loss(), depth=np.int64(1))
    av.show(loss(), collapse=np.bool_(True))
    av.save(loss(), tmp_path / "x.png", scale=np.float32(1.0), step=np.int64(1))
    av.step(loss(), retain_graph=1)
    assert not av.diff(loss(), loss(), rtol=0, atol=np.float64(0.1)).first_value


@pytest.mark.parametrize("call", [lambda x: av.diff(x), lambda x: av.diff(x, 2), lambda x: av.gather(x, 0, x)])
def test_a_verb_refuses_the_arguments_of_the_op_of_its_name(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"PyTorch's op of this name is autograd_viz.twin.(diff|gather)"):
        call(loss())
    x = av.tensor([[1.0, 3.0]])
    assert twin.diff(x).tolist() == [[2.0]] and twin.gather(x, 1, twin.tensor([[1]])).tolist() == [[3.0]]
