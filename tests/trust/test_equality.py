"""Some random programs, stepped there and back, are what PyTorch makes of them; `equality.py` runs as many as one likes."""

from __future__ import annotations

import pytest

import autograd_viz as av

pytest.importorskip("torch")

from .equality import checked

pytestmark = pytest.mark.torch
# have differed once: copies onto shared memory, a view of a scalar copied onto, a hook after detach_, an overload's number
ONCE = (17, 104, 108, 136, 316, 9160, 9175, 9330, 10070, 10148)


@pytest.mark.parametrize("seed", ONCE)
def test_what_has_differed_once_is_the_same(seed: int) -> None:
    assert checked(seed) == []


@pytest.mark.parametrize("seed", ONCE)
def test_so_it_is_while_the_recorder_is_on(seed: int) -> None:
    with av.watch() as watch:
        assert checked(seed) == [] and not watch.faults


def test_others_are_the_same() -> None:
    assert [seed for seed in range(400, 440) if checked(seed)] == []
