r"""All escaping in one place: whatever the user called things is drawn as text.

>>> text('<script>"&')
'&lt;script&gt;&quot;&amp;'
"""

from __future__ import annotations

import functools
import re
import unicodedata

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_MARKUP = re.compile("[&<>\"']")
# text that changes the direction of what follows, and characters that XML does not allow
_UNWANTED = {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\ufffe", "\uffff"}


def text(value: str) -> str:
    """Safe as character data and inside a quoted attribute; control characters become U+FFFD."""
    if value.isascii() and value.isprintable() and not _MARKUP.search(value):  # nearly always
        return value
    return "".join(_ENTITIES.get(c) or ("\ufffd" if is_unwanted(c) else c) for c in value)


def printable(value: str) -> str:
    """Safe in a terminal: control characters, and with them escape sequences, become U+FFFD."""
    return "".join("\ufffd" if is_unwanted(c) else c for c in value)


def is_unwanted(c: str) -> bool:
    """A control character, or one that turns the direction of what follows."""
    return c in _UNWANTED or (unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n")


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
