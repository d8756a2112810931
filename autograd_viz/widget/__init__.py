"""The stepper in a notebook: one synced picture, its recorded frames and one cursor."""

from .compare import Compare
from .widget import StepperWidget

__all__ = ["Compare", "StepperWidget"]
