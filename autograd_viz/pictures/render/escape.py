r"""All escaping in one place: the user's names are drawn as text.

>>> text('<script>"&')
'&lt;script&gt;&quot;&amp;'
"""

from __future__ import annotations

import functools
import html
import re

# control characters, halves of surrogate pairs, characters that change the text direction, characters that XML forbids
_CHARACTERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff"
SHORT = 40  # letters of the longest attribute in the cache
_UNWANTED = re.compile(f"[{_CHARACTERS}]")
_SPECIAL = re.compile(f"[{_CHARACTERS}&<>\"']")


def text(value: str) -> str:
    """Safe as character data and inside a quoted attribute; control characters become U+FFFD."""
    if _SPECIAL.search(value) is None:
        return value
    return html.escape(printable(value), quote=False).replace('"', "&quot;").replace("'", "&#39;")


def one_line(markup: str) -> str:
    """Remove empty lines from an element, as its attributes may have line ends. An empty line would end it in Markdown."""
    return markup.replace("\n", "&#10;")


def printable(value: str) -> str:
    """Make text safe for a terminal: control characters, and so escape sequences, become U+FFFD."""
    return _UNWANTED.sub("\ufffd", value)


def is_unwanted(c: str) -> bool:
    """Is it a control character, or one that changes the text direction?"""
    return _UNWANTED.match(c) is not None


@functools.cache
def _written(name: str) -> str:
    return name.strip("_").replace("__", ":").replace("_", "-")


def _attribute(name: str, value: object) -> str:
    # + 0.0 turns -0 into 0: the cache could not tell them apart
    shown = f"{value + 0.0:g}" if isinstance(value, float) else text(value) if isinstance(value, str) else str(value)
    return f' {_written(name)}="{shown}"'


_known_attribute = functools.lru_cache(4096, typed=True)(_attribute)  # many boxes share attributes


def element(tag: str, content: str | None = None, **attributes: object) -> str:
    """An element; in attribute names `_` stands for `-` and `__` for `:`, None is left out, `content` is markup.

    >>> element("text", text("a < b"), x=1.50, font_size=12)
    '<text x="1.5" font-size="12">a &lt; b</text>'
    """
    opening = tag
    for name, value in attributes.items():
        if value is not None:
            is_long = isinstance(value, str) and len(value) > SHORT
            opening += _attribute(name, value) if is_long else _known_attribute(name, value)
    return f"<{opening}/>" if content is None else f"<{opening}>{content}</{tag}>"
