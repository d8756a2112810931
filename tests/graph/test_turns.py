"""Which turn of its place each op is."""

from __future__ import annotations

from autograd_viz.graph.listing import Ran, turns_of


def turns(*ran: str, repeats: bool = True, classes: dict[str, str] | None = None, owner: str = "") -> list[tuple[int, int]]:
    """Of ops written as "place name module"."""
    ops = [Ran(place, "f", owner, name, module, repeats) for place, name, module in ((*r.split(" "), "")[:3] for r in ran)]
    return turns_of(ops, classes or {})


def test_a_place_runs_again_after_others_of_its_function() -> None:
    assert turns("1 Mul", "2 Tanh", "1 Mul", "2 Tanh", "3 Sum") == [(1, 2), (1, 2), (2, 2), (2, 2), (1, 1)]


def test_one_expression_in_a_loop_is_a_turn_each_time() -> None:
    assert turns("1 Mul", "1 Mul", "1 Mul") == [(1, 3), (2, 3), (3, 3)]
    assert turns("1 T", "1 Addmm", "1 T", "1 Addmm") == [(1, 2), (1, 2), (2, 2), (2, 2)]


def test_ops_in_a_row_that_cannot_repeat_are_one_turn() -> None:
    assert turns("1 View", "1 View", "1 View", repeats=False) == [(1, 1)] * 3


def test_what_a_library_runs_in_one_call_is_one_turn() -> None:
    assert turns("1 View", "1 View", "1 Bmm") == [(1, 1)] * 3
    inside = ("1 Addmm net.0", "1 Addmm net.1")
    assert turns(*inside, classes={"net": "Sequential", "net.0": "Linear", "net.1": "Linear"}) == [(1, 1)] * 2


def test_modules_that_the_function_itself_calls_in_a_loop_are_turns() -> None:
    calls = ("1 Addmm layers.0", "1 Addmm layers.1")
    assert turns(*calls, classes={"": "Net", "layers.0": "Linear", "layers.1": "Linear"}, owner="Net") == [(1, 2), (2, 2)]


def test_a_method_of_a_module_that_is_called_at_several_paths_repeats() -> None:
    classes = {"": "Net", "b.0": "Block", "b.1": "Block", "b.0.lin": "Linear", "b.1.lin": "Linear"}
    ran = ("1 Addmm b.0.lin", "2 Tanh b.0", "1 Addmm b.1.lin", "2 Tanh b.1")
    assert turns(*ran, classes=classes, owner="Block") == [(1, 2), (1, 2), (2, 2), (2, 2)]
