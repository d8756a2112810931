"""Mixed precision, by the names of torch.amp: a program that can do without it runs unchanged."""

from .autocast import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
