"""The questions of the notebooks: predict first, then step. The answer and the reason come from the real graph."""

from . import ask
from .beside import beside
from .heat import heat
from .libraries import both
from .plot import plot
from .question import Question, Verdict
from .widget import QuestionWidget, answers

__all__ = ["Question", "QuestionWidget", "Verdict", "answers", "ask", "beside", "both", "heat", "plot"]
