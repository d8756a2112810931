"""Texts that mean something to whoever reads them as anything but text."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

HTML = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onload='alert(1)", "</svg><script>1</script>", "]]>",
    "<!--", "-->", "<![CDATA[", "&lt;b&gt;", "&#x202e;", "&nosuch;", "<style>*{display:none}</style>", "</title></style>",
    "javascript:alert(1)", "<a xlink:href='javascript:alert(1)'>x</a>", "<foreignObject><iframe srcdoc='x'>",
    "<?xml version='1.0'?>",
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>", "{{title}}", "{{recording}}", "${1+1}", "\u2028\u2029",
)  # fmt: skip
CSS = ("}*{background:url(//x.invalid)}", "expression(alert(1))", "@import 'x';", "\\3c script", "--x:red;")
DOT = (
    "\\N",
    "\\G\\E\\T",
    "</TD></TR></TABLE>>",
    "]; evil [label=x",
    "->",
    "{a|b}",
    "<<B>x</B>>",
    "subgraph cluster_x {",
    "//c",
    "/*",
    "\\",
    '"',
    "a:n",
)
MERMAID = ("%%{init: {'theme':'x'}}%%", "click t0 href 'x'", "end", "```", "#quot;", "`**b**`", "graph TD; a-->b", "]:::x")
TERMINAL = (
    "\x1b[31mred", "\x1b]8;;https://x.invalid\x07link\x1b]8;;\x07", "\x1b]0;title\x07", "a\rb", "\b\b\b", "\x9b31m", "\x7f",
    "\x00", "\x0b\x0c", "\x1bPq\x1b\\", "\x1b[2J\x1b[H", "\x85",
)  # fmt: skip
UNICODE = (
    "\u202eabc", "\u2066x\u2069", "a\u200bb", "\u200f", "\u061c", "\ud800", "x\udfff", "\ufeff", "\ufffe", "\U000e0001",
    "e\u0301" * 9,
    "名字", "🙂", "\u00ad", "\t", "\n", "\r\n",
)  # fmt: skip
FORMAT = ("{name}", "{0}", "{", "}", "%s", "%(x)s", "$x", "a`b", "%", "{a.__class__}")
NAMES = ("__proto__", "constructor", "toString", "t0", "n0", "loss", "None", "", " ", "a.b[0]", "../../x")
LONG = "ab<\x1b" * 250_000  # 1 MB

ALL = tuple(itertools.chain(HTML, CSS, DOT, MERMAID, TERMINAL, UNICODE, FORMAT, NAMES))
# what no terminal may be sent, other than the line breaks of our own
CONTROLS = {chr(c) for c in (*range(0x20), *range(0x7F, 0xA0))} - {"\n"}
TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def texts() -> st.SearchStrategy[str]:
    """One of the corpus, several of it in a row, or anything else that Python calls a string."""
    anything = st.text(st.characters(), max_size=20)  # lone surrogates too
    some = st.sampled_from(ALL)
    return some | st.lists(some | anything, max_size=3).map("".join) | anything
