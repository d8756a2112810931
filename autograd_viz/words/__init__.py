"""All sentences and labels for users, one folder per language. `words.START` is in the chosen language.

A language is a module with the same constants as `en`. The sentences have names in capitals, and {placeholders}. `UI` has the
labels of the widget by key. What `explain` says of a cause is in the file with the name of the cause's own in answers/causes/.
"""

from __future__ import annotations

from importlib import import_module

from ..errors import UnknownChoiceError
from . import en

_LANGUAGES = ("en", "zh")
_chosen = en


def set_language(name: str) -> None:
    """Set the language of sentences and labels: "en", or "zh" for 简体中文. Earlier outputs stay unchanged.

    Raises:
        UnknownChoiceError: the language does not exist.

    Example:
        >>> x = av.tensor(2.0, requires_grad=True)
        >>> av.set_language("zh")
        >>> print(av.explain(x))
        x.grad 是 None：还没有 backward() 到达它。
        → 先调用 backward()，再调用 explain()。
        >>> av.set_language("en")
    """
    global _chosen
    if name not in _LANGUAGES:
        raise UnknownChoiceError("language", name, _LANGUAGES)
    _chosen = import_module(f".{name}", __name__)


def language() -> str:
    """The chosen language: "en" or "zh"."""
    return _chosen.__name__.rpartition(".")[2]


def ui() -> dict[str, str]:
    """The labels of the widget by key, in the chosen language."""
    return {**vars(_chosen)["UI"]}


def explore() -> dict[str, str]:
    """The labels of sliders likewise."""
    return {**vars(_chosen)["UI_EXPLORE"]}


def site(name: str = "") -> dict[str, str]:
    """The texts of the playground by key, in a language; default: the chosen one."""
    return {**vars(import_module(f".{name}", __name__) if name else _chosen)["UI_SITE"]}


def __getattr__(name: str) -> str:
    if name.isupper() and hasattr(_chosen, name):
        return str(getattr(_chosen, name))
    raise AttributeError(f"there is no sentence {name}")
