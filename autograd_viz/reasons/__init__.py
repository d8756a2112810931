"""Why a gradient is what it is: causes found in a document and the numbers of its last pass, and their sentences.

Nothing here knows a tensor of anybody's: what only a live graph can tell (which node ran, which line changed a tensor) is asked
through `Live`.
"""

from .ask import causes_of, causes_of_error
from .backward_lines import last_root
from .cause import Cause
from .cuts import recorded_cut_sentences
from .facts import Facts
from .live import Live, NothingLive
from .missing import led_off_at, open_origins
from .reads import grads_read
from .refused import complaint
from .text import sentences

__all__ = [
    "Cause", "Facts", "Live", "NothingLive", "causes_of", "causes_of_error", "complaint", "grads_read", "last_root",
    "led_off_at", "open_origins", "recorded_cut_sentences", "sentences",
]  # fmt: skip
