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
_UNWANTED = re.compile(f"[{_CHARACTERS}]")
_SPECIAL = re.compile(f"[{_CHARACTERS}&<>\"']")


def text(value: str) -> str:
    """Safe as character data and inside a quoted attribute; control characters become U+FFFD."""
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], "\ufffd"), value)


def printable(value: str) -> str:
    """Safe in a terminal: control characters, and with them escape sequences, become U+FFFD."""
    return _UNWANTED.sub("\ufffd", value)


def is_unwanted(c: str) -> bool:
    """A control character, or one that turns the direction of what follows."""
    return _UNWANTED.match(c) is not None


@functools.cache
def _attribute(name: str) -> str:
    return name.strip("_").replace("_", "-")


def element(tag: str, content: str | None = None, **attributes: object) -> str:
    """An element; `_` in attribute names stands for `-`, attributes that are None are left out, `content` is markup.

    >>> element("text", text("a < b"), x=1.50, font_size=12)
    '<text x="1.5" font-size="12">a &lt; b</text>'
    """
    opening = tag
    for name, value in attributes.items():
        if value is not None:
            shown = f"{value:g}" if isinstance(value, float) else text(value) if isinstance(value, str) else str(value)
            opening += f' {_attribute(name)}="{shown}"'
    return f"<{opening}/>" if content is None else f"<{opening}>{content}</{tag}>"
