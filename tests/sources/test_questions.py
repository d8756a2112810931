"""What questions and watched programs ask: names, the last stepped pass, models that are trained, ranks that meet."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.sources.programs import each_model
from autograd_viz.sources.shared.names import names_by_identity
from autograd_viz.sources.shared.questions import last_pass, moved
from autograd_viz.sources.twin.graph import is_tensor


class Holder:
    """It holds a tensor of its own, and one of its class."""

    shared = av.tensor(1.0)

    def __init__(self) -> None:
        self.w = av.tensor(2.0)


class Foreign(Holder):
    """As an object of a library."""


Foreign.__module__ = "torch.somewhere"


def test_objects_of_the_users_are_read_and_classes_and_those_of_libraries_are_not() -> None:
    known = {"h": Holder(), "Holder": Holder, "foreign": Foreign()}
    assert [name for name, _ in names_by_identity(known, is_tensor)] == ["h.w"]


class Node:
    """A node."""


class Stepped:
    """A pass of a stepper."""

    def __init__(self, nodes: list[Any]) -> None:
        self.nodes = frozenset(nodes)


def test_the_last_pass_is_the_one_that_moved_last() -> None:
    node, other = Node(), Node()
    first, second = Stepped([node]), Stepped([node])
    assert last_pass([node]) is None
    for live in (first, second, first):
        moved(live)
        assert last_pass([node]) is live
    moved(Stepped([other]))
    assert last_pass([node]) is first


def test_a_model_is_found_when_it_is_called_after_its_optimizer_was_made() -> None:
    model = av.nn.Linear(2, 1)
    found: list[Any] = []
    with each_model(found.append):
        model(av.ones(2))
        assert not found
        optimizers = [av.optim.SGD([p], lr=0.1) for p in model.parameters()]
        model(av.ones(2)).sum().backward()
        assert found == [model]
        for optimizer in optimizers:
            optimizer.step()
    assert found == [model]


class Store:
    """A store of a job, in which rank 1 comes just when rank 0 gives up, or never."""

    def __init__(self, comes: bool) -> None:
        self._comes, self._count, self._keys = comes, 0, set[str]()

    def set(self, key: str, value: str) -> None:
        """Write."""
        self._keys.add(key)

    def check(self, keys: list[str]) -> bool:
        """Are they there?"""
        return all(key in self._keys for key in keys)

    def add(self, key: str, number: int) -> int:
        """Count; the other rank comes before this one leaves."""
        if number < 0 and self._comes:
            self._count += 1
            self._keys |= {f"{key}/1", f"{key}/all"}
        self._count += number
        return self._count


@pytest.mark.torch
@pytest.mark.parametrize("comes", [True, False])
def test_a_rank_that_comes_when_another_gives_up_is_met(comes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from autograd_viz.sources.pytorch.stepping import exchange

    store = Store(comes)
    monkeypatch.setattr(exchange, "store_of_job", lambda: store)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 0)
    if comes:
        exchange.meet((0, 1), "the test waits", "", patience=0.0)
    else:
        with pytest.raises(RuntimeError, match=r"1 of them did not come to this step in 0 s: rank 1"):
            exchange.meet((0, 1), "the test waits", "", patience=0.0)
