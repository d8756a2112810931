"""Mixed precision, by the names of torch.amp. Programs that use it run unchanged, without a shorter type."""

from .autocast import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
