"""The moments of a run of our own core: what a pass needs to run again, for chosen steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..core.base.provenance import Place

MOST = 32  # moments


@dataclass
class CoreMoment:
    """A pass that can run again.

    Attributes:
        step: the step that it belongs to.
        at: the user's instruction that called the model.
        model: a copy of the model before the call.
        args, kwargs: of the call.
        random: the state of the random numbers before it.
        arrived: the gradients that reached each tensor that the model returned, by its place among them.
    """

    step: int
    at: Place
    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    random: Any
    arrived: dict[int, Any] = field(default_factory=dict)


class CoreMoments:
    """Chosen steps, in memory."""

    def __init__(self) -> None:
        self._moments = dict[int, CoreMoment]()

    @property
    def steps(self) -> list[int]:
        """The steps."""
        return list(self._moments)

    def keep(self, moment: CoreMoment) -> None:
        """Keep a moment. When there are more than `MOST`, every other one goes."""
        self._moments[moment.step] = moment
        if len(self._moments) > MOST:
            for step in self.steps[1:-1:2]:
                del self._moments[step]

    def at(self, step: int) -> CoreMoment:
        """The moment of a step.

        Raises:
            KeyError: it is not kept.
        """
        return self._moments[step]
