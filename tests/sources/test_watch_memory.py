"""The recorder that stays on keeps the memory of one pass, and bounded notes."""

from __future__ import annotations

import gc
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.multiprocessing.reductions import StorageWeakRef  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.sources.pytorch.reading import op_pages  # noqa: E402
from autograd_viz.sources.pytorch.reading.op_log import Event  # noqa: E402

from .watched import LOOPS  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("watch_ends")]


class Storages(TorchDispatchMode):
    """Weak references to the memory of every result, also of those that only C++ holds."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Any, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for t in result if isinstance(result, tuple | list) else [result]:
            if isinstance(t, torch.Tensor):
                self.made.append((StorageWeakRef(t.untyped_storage()), t.untyped_storage().nbytes()))
        return result

    def alive(self) -> int:
        """Bytes."""
        return sum({ref.cdata: size for ref, size in self.made if not ref.expired()}.values())


STUCK = ("packed_tensors_in_a_list", "slices_in_a_list")  # nobody can let go what their nodes hold


def _objects() -> int:
    kinds = (op_pages.OpRecord, op_pages.Page, op_pages.Leaf, Event)
    return sum(issubclass(type(o), kinds) for o in gc.get_objects())


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("keep", ["256 MB", 0])
def test_memory_is_that_of_a_plain_run_and_of_one_pass(name: str, keep: int | str) -> None:
    """The collector is off: nothing waits for it."""
    run, alive = LOOPS[name], []
    run(2)  # what is made once and for all
    gc.collect()
    gc.disable()
    try:
        for is_watched in (False, True):
            with Storages() as storages:
                watching = av.watch(keep) if is_watched else None
                held = run(40)
            alive.append(storages.alive())
            if watching is not None:
                kept = watching.held
                assert watching.faults == ()
                watching.close()
                alive.append(storages.alive())
            del held
        plain, watched, closed = alive
        first = 500 if name in STUCK else 0  # the graph by which it was seen that somebody holds them
        assert plain <= closed <= plain + first
        assert watched <= plain + (kept + first + 3000 if keep else 0)
    finally:
        gc.enable()


@pytest.mark.parametrize("name", LOOPS)
def test_what_is_noted_is_bounded(name: str) -> None:
    """Some hundred iterations."""
    with av.watch() as watching:
        LOOPS[name](100)
        before = _objects(), len(watching.log.made._marks)
        for _ in range(2):
            held = LOOPS[name](150)
        if "list" in name:  # the user holds 150 graphs, and each of them a page
            del held
            LOOPS["training"](10 * op_pages.PASSES)
            LOOPS["training"](100)
        after = _objects(), len(watching.log.made._marks)
        assert len(watching.log._pages) <= (op_pages.SPAN >> op_pages.BITS) + 10
    assert after[0] - before[0] < 2000 and after[1] <= before[1] + 20
