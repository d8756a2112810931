"""The questions of the notebooks: predict first, then step. The answer and the reason come from the real graph."""

import importlib
import sys
from types import ModuleType

from .. import words
from . import ask
from .beside import beside
from .plot import heat, plot
from .question import Question, Verdict
from .widget import QuestionWidget, answers

__all__ = ["Question", "QuestionWidget", "Verdict", "answers", "ask", "beside", "both", "heat", "plot"]


def both() -> list[ModuleType]:
    """Give this library, and PyTorch if it is installed. Without PyTorch, a sentence says how to get it."""
    ours = [sys.modules[__name__.partition(".")[0]]]
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        is_page = sys.platform == "emscripten"  # a browser's Python, where PyTorch cannot be
        print(words.NO_TORCH_IN_A_PAGE if is_page else f"{words.NO_TORCH_TO_COMPARE}\n%pip install torch")
        return ours
    return [*ours, torch] if torch.__name__ == "torch" else ours  # as_torch() gives the twin that name
