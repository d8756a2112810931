"""English, the language of which the others are translations."""

from __future__ import annotations

from . import code_view, debugger, labels
from .debugger import *  # noqa: F403 -- a language is all its sentences
from .differences import *  # noqa: F403 -- a language is all its sentences
from .errors import *  # noqa: F403 -- a language is all its sentences
from .jobs import *  # noqa: F403 -- a language is all its sentences
from .labels import *  # noqa: F403 -- a language is all its sentences
from .lessons import *  # noqa: F403 -- a language is all its sentences
from .maps import *  # noqa: F403 -- a language is all its sentences
from .memory import *  # noqa: F403 -- a language is all its sentences
from .missing import *  # noqa: F403 -- a language is all its sentences
from .rules import *  # noqa: F403 -- a language is all its sentences
from .runs import *  # noqa: F403 -- a language is all its sentences
from .steps import *  # noqa: F403 -- a language is all its sentences
from .values import *  # noqa: F403 -- a language is all its sentences
from .zero import *  # noqa: F403 -- a language is all its sentences

UI = labels.UI | debugger.UI | code_view.UI
