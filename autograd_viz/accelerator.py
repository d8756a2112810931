"""There is no accelerator: enough of torch.accelerator for a program to find that out."""

from .core.base.missing import module_getattr


def is_available() -> bool:
    """False."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """None."""


def device_count() -> int:
    """0."""
    return 0


__getattr__ = module_getattr("torch.accelerator", globals())
