"""English, the language of which the others are translations."""

from . import debugger, labels
from .answer import *  # noqa: F403 -- a language is all its sentences
from .ask import *  # noqa: F403 -- a language is all its sentences
from .bad_numbers import *  # noqa: F403 -- a language is all its sentences
from .debugger import *  # noqa: F403 -- a language is all its sentences
from .differences import *  # noqa: F403 -- a language is all its sentences
from .errors import *  # noqa: F403 -- a language is all its sentences
from .hooks import *  # noqa: F403 -- a language is all its sentences
from .jobs import *  # noqa: F403 -- a language is all its sentences
from .labels import *  # noqa: F403 -- a language is all its sentences
from .lessons import *  # noqa: F403 -- a language is all its sentences
from .loop import *  # noqa: F403 -- a language is all its sentences
from .loss import *  # noqa: F403 -- a language is all its sentences
from .maps import *  # noqa: F403 -- a language is all its sentences
from .memory import *  # noqa: F403 -- a language is all its sentences
from .missing import *  # noqa: F403 -- a language is all its sentences
from .present import *  # noqa: F403 -- a language is all its sentences
from .runs import *  # noqa: F403 -- a language is all its sentences
from .sizes import *  # noqa: F403 -- a language is all its sentences
from .steps import *  # noqa: F403 -- a language is all its sentences
from .why import *  # noqa: F403 -- a language is all its sentences
from .zeros import *  # noqa: F403 -- a language is all its sentences

UI = labels.UI | debugger.UI
