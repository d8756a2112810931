"""Why a gradient is what it is. The causes come from what has run, or from the numbers of the last pass; here are their
sentences.

There are two kinds of causes. Look-ups (missing, present, errors) ask `History`: which ops ran at which lines,
which passes, what was cleared. Value rules (zeros, bad_numbers, sizes, …) ask `Facts`: the document and what the last pass
sent. The sentences of zeros.py stand in the file zeros.py of each language, those of missing.py in missing.py, and so on.
"""

from .answer import answer
from .ask import causes_of
from .cause import Cause
from .code import grads_read
from .document_cuts import cut_sentences
from .errors import causes_of_error, complaint
from .facts import Facts
from .history import History, Live, NothingLive
from .question import Question

__all__ = [
    "Cause", "Facts", "History", "Live", "NothingLive", "Question", "answer", "causes_of", "causes_of_error", "complaint",
    "cut_sentences", "grads_read",
]  # fmt: skip
