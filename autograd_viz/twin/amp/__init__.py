"""Mixed precision, by the names of torch.amp. Programs that use it run unchanged, without a shorter type."""

from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
