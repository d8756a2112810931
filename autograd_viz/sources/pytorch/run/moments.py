"""Chosen steps of a run, kept in files so that each can run again."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import cached_property
from pathlib import Path

import torch

from ..recording.watch import own_code
from .kept import Moment

MOST = 32  # moments; when there are more, every other one goes


class Moments:
    """Moments in a temporary folder, which is removed with this object."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    @cached_property
    def _folder(self) -> Path:
        folder = tempfile.mkdtemp(prefix="autograd_viz_run_")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _file(self, step: int) -> Path:
        return self._folder / f"{step}.pt"

    @own_code()
    def keep(self, moment: Moment) -> None:
        """Write a moment.

        Raises:
            Exception: an input of the model cannot be pickled, or the disk is full.
        """
        torch.save(moment, self._file(moment.step))
        self.steps = [*(s for s in self.steps if s != moment.step), moment.step]
        if len(self.steps) > MOST:
            for step in self.steps[1:-1:2]:
                self._file(step).unlink(missing_ok=True)
                self.steps.remove(step)

    @own_code()
    def at(self, step: int) -> Moment:
        """The moment of a step.

        Raises:
            KeyError: it is not kept.
        """
        if step not in self.steps:
            raise KeyError(step)
        return torch.load(self._file(step), weights_only=False)  # type: ignore[no-any-return]  # our own file
