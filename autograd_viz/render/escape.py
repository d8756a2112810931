r"""All escaping in one place: whatever the user called things is drawn as text.

>>> text('<script>"&')
'&lt;script&gt;&quot;&amp;'
"""

from __future__ import annotations

import functools
import re

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
# control characters, halves of surrogate pairs, text that changes the direction of what follows, what XML does not allow
_CHARACTERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff"
SHORT = 40  # letters of an attribute that may be kept for the next time
_UNWANTED = re.compile(f"[{_CHARACTERS}]")
_SPECIAL = re.compile(f"[{_CHARACTERS}&<>\"']")


def text(value: str) -> str:
    """Safe as character data and inside a quoted attribute; control characters become U+FFFD."""
    return value if _SPECIAL.search(value) is None else _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], "\ufffd"), value)


def one_line(html: str) -> str:
    """An element whose attributes may have line ends: in Markdown, where outputs may end up, an empty line would end it."""
    return html.replace("\n", "&#10;")


def printable(value: str) -> str:
    """Safe in a terminal: control characters, and with them escape sequences, become U+FFFD."""
    return _UNWANTED.sub("\ufffd", value)


def is_unwanted(c: str) -> bool:
    """A control character, or one that turns the direction of what follows."""
    return _UNWANTED.match(c) is not None


@functools.cache
def _written(name: str) -> str:
    return name.strip("_").replace("__", ":").replace("_", "-")


def _attribute(name: str, value: object) -> str:
    # + 0.0: there is no -0, which the memory below could not tell from 0
    shown = f"{value + 0.0:g}" if isinstance(value, float) else text(value) if isinstance(value, str) else str(value)
    return f' {_written(name)}="{shown}"'


_known_attribute = functools.lru_cache(4096, typed=True)(_attribute)  # a picture says the same of many boxes


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
