"""Where the random numbers start: seeds, and the state to go back to."""

from __future__ import annotations

from ...base.public import public
from ...tensor.random import Generator, default_generator
from ...tensor.tensor import Tensor


@public("torch.manual_seed")
def manual_seed(seed: int) -> Generator:
    """Make every random number from here on repeatable; they are PyTorch's numbers for that seed on the CPU."""
    return default_generator.manual_seed(seed)


@public("torch.initial_seed")
def initial_seed() -> int:
    """The seed that the random numbers started from."""
    return default_generator.initial_seed()


@public("torch.seed")
def seed() -> int:
    """Start the random numbers from a seed that nobody can guess, and tell it."""
    return default_generator.seed()


@public("torch.get_rng_state")
def get_rng_state() -> Tensor:
    """Where the random numbers are, as bytes; `set_rng_state` goes back there."""
    return default_generator.get_state()


@public("torch.set_rng_state")
def set_rng_state(new_state: Tensor) -> None:
    """Go back to where `get_rng_state` was called."""
    default_generator.set_state(new_state)


public("torch.Generator")(Generator)
