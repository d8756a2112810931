"""There is no GPU here: enough of torch.cuda for a program to find that out."""

from . import amp  # noqa: F401 -- torch.cuda.amp
from .core.base.missing import module_getattr


def is_available() -> bool:
    """False."""
    return False


def is_bf16_supported() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed_all(seed: int) -> None:
    """Nothing to seed."""


def synchronize(device: object = None) -> None:
    """Nothing to wait for."""


def empty_cache() -> None:
    """Nothing to free."""


manual_seed = manual_seed_all
__getattr__ = module_getattr("torch.cuda", globals())
