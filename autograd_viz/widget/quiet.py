"""Widgets that open late, and die without a line of Python: Note [A destructor loses what it raises] in interrupts.py.

# Note [A widget that nobody has shown]
ipywidgets holds every widget that has a comm, for as long as the kernel lives. A stepper that only code uses would keep its
graph. So our widgets get their comm when a page asks for them: every way to show a widget reads `model_id`. Until then
`ipywidgets.embed` does not find them among all widgets; it needs `state=dependency_state(views)`.
"""

from __future__ import annotations

from typing import Any

import ipywidgets

from ..runtime.uncopied import Uncopied


class Quiet(Uncopied, ipywidgets.Widget):  # type: ignore[misc]
    """Opens a widget late. Its destructor is in C: a widget that dies has no comm."""

    __del__ = object.__hash__
    _is_wanted = False

    def open(self) -> None:
        """Open the comm, if a page has asked for it."""
        if self._is_wanted:
            super().open()

    @property
    def model_id(self) -> Any:
        """The name by which a page knows the widget."""
        if self.comm is None and not self._is_wanted:
            self._is_wanted = True
            self.open()
        return super().model_id

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """What a notebook shows of it. (Newer ipywidgets read `_model_id` for it.)"""
        _ = self.model_id
        return super()._repr_mimebundle_(**options)

    def get_view_spec(self) -> Any:
        """What a saved page shows of it."""
        return {**super().get_view_spec(), "model_id": self.model_id}

    @property
    def is_closed(self) -> bool:
        """Was it closed, so that it opens no more?"""
        return self._is_wanted and self.comm is None

    def close(self) -> None:
        """Close the comm. A widget that is closed opens no more."""
        self._is_wanted = True
        super().close()


class QuietLayout(Quiet, ipywidgets.Layout):  # type: ignore[misc]
    """The layout of our widgets."""
