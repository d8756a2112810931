"""Seeds of the random numbers, and their state."""

from __future__ import annotations

from ...base.public import public
from ...tensor.random import Generator, default_generator
from ...tensor.tensor import Tensor


@public("torch.manual_seed")
def manual_seed(seed: int) -> Generator:
    """Make all later random numbers repeatable. They equal PyTorch's for that seed on the CPU."""
    return default_generator.manual_seed(seed)


@public("torch.initial_seed")
def initial_seed() -> int:
    """The seed of the random numbers."""
    return default_generator.initial_seed()


@public("torch.seed")
def seed() -> int:
    """Restart the random numbers from an unpredictable seed, and return it."""
    return default_generator.seed()


@public("torch.get_rng_state")
def get_rng_state() -> Tensor:
    """The state of the random numbers, as bytes, for `set_rng_state`."""
    return default_generator.get_state()


@public("torch.set_rng_state")
def set_rng_state(new_state: Tensor) -> None:
    """Restore a state from `get_rng_state`."""
    default_generator.set_state(new_state)


public("torch.Generator")(Generator)
