"""简体中文。节点名和属性名与代码相同。"""

from __future__ import annotations

from . import code_view
from .errors import *  # noqa: F403 -- a language is all its sentences
from .labels import *  # noqa: F403 -- a language is all its sentences
from .lessons import *  # noqa: F403 -- a language is all its sentences
from .maps import *  # noqa: F403 -- a language is all its sentences
from .missing import *  # noqa: F403 -- a language is all its sentences
from .steps import *  # noqa: F403 -- a language is all its sentences
from .values import *  # noqa: F403 -- a language is all its sentences
from .zero import *  # noqa: F403 -- a language is all its sentences

UI.update(code_view.UI)  # noqa: F405 -- of labels.py
