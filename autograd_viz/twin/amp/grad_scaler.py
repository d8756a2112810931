"""GradScaler: multiplies the loss, so that small gradients do not become 0 in a short type. The step undoes it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.base import events

_OPTIONS = ("growth_factor", "backoff_factor", "growth_interval")


class GradScaler:
    """Scales losses and unscales gradients. It searches for the largest scale without an overflow.

    The scale grows by `growth_factor` after `growth_interval` good steps in a row. A step with an infinite or nan gradient is
    skipped, and scales it by `backoff_factor`. The device "cuda" does not exist: it disables the scaler, with a warning.
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        if enabled and device != "cpu":
            text = f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available.  Disabling."
            warnings.warn(text, UserWarning, stacklevel=2)
        self._enabled = enabled and device == "cpu"
        self._scale, self._good_steps = init_scale, 0
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._overflowed: dict[Any, bool] = {}  # the optimizers whose gradients were unscaled since the last update

    def is_enabled(self) -> bool:
        """Is it enabled?"""
        return self._enabled

    def get_scale(self) -> float:
        """The present scale."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs: Any) -> Any:
        """One loss, or several, times the scale."""
        if not self._enabled:
            return outputs
        return type(outputs)(map(self.scale, outputs)) if isinstance(outputs, list | tuple) else outputs * self._scale

    def unscale_(self, optimizer: Any) -> None:
        """Divide gradients by the scale, to clip them. Raises RuntimeError: already done since the last `update`."""
        if not self._enabled:
            return
        if optimizer in self._overflowed:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        self._overflowed[optimizer] = not all(np.isfinite(g._data).all() for g in grads)
        with np.errstate(all="ignore"):
            for g in grads:
                g._data *= g._data.dtype.type(1.0 / self._scale)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()``, unless a gradient is infinite or nan."""
        if self._enabled and optimizer not in self._overflowed:
            self.unscale_(optimizer)
        is_skipped = bool(self._overflowed.get(optimizer))
        if self._enabled:
            events.scaling(optimizer, self._scale, is_skipped)
        return None if is_skipped else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | None = None) -> None:
        """Set the scale of the next step: smaller after an overflow, larger after many steps without one."""
        if not self._enabled:
            return
        bad = any(self._overflowed.values())
        self._good_steps = 0 if bad else self._good_steps + 1
        if bad:
            self._scale *= self._backoff_factor
        elif self._good_steps == self._growth_interval:
            self._scale, self._good_steps = self._scale * self._growth_factor, 0
        self._scale = self._scale if new_scale is None else float(new_scale)
        self._overflowed.clear()

    def state_dict(self) -> dict[str, Any]:
        """The state, for `load_state_dict` of another scaler."""
        if not self._enabled:
            return {}
        return {"scale": self._scale, **{k: getattr(self, f"_{k}") for k in _OPTIONS}, "_growth_tracker": self._good_steps}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from `state_dict`."""
        if self._enabled:
            self._scale, self._good_steps = state_dict["scale"], state_dict["_growth_tracker"]
            for option in _OPTIONS:
                setattr(self, f"_{option}", state_dict[option])
