"""The picture and its tables as one page without scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import words
from ...answers.sentences.text import size_text
from ..render import theme_named
from ..render.escape import element, text
from .paint import paint
from .report import Record, Report

PLACE = re.compile(r"\{\{(\w+)\}\}")
MOST = 1000  # rows of a table
SIZES = {"bytes", "parameters", "inputs", "activations", "holds", "saves", "peak"}


def page_html(report: Report, theme: str) -> str:
    """The page; with the theme "auto" it follows the reader's system."""
    pictures = {"on-light": "light", "on-dark": "dark"} if theme == "auto" else {"": theme}
    tables = {
        words.MEMORY_PAGE_CHECKPOINTS: "checkpoint", words.BY_MODULE: "module", words.BY_LINE: "line",
        words.MEMORY_PAGE_TENSORS: "tensor",
    }  # fmt: skip
    places = {
        "language": words.language(),
        "title": text(str(report)),
        "theme": theme,
        "picture": "\n".join(element("div", paint(report, theme_named(t)), class_=c) for c, t in pictures.items()),
        "code": element("h2", text(words.MEMORY_PAGE_CODE)) + element("pre", text(report.code)) if report.code else "",
        "tables": "\n".join(_table(title, report.table(by)[:MOST]) for title, by in tables.items()),
    }
    return PLACE.sub(lambda place: places[place[1]], _template())


def page_style() -> str:
    """The page's style, which a page around it must allow."""
    return _template().partition("<style>")[2].partition("</style>")[0]


def _template() -> str:
    return (Path(__file__).parent / "page.html").read_text(encoding="utf-8")


def _table(title: str, records: Sequence[Record]) -> str:
    if not records:
        return ""
    head = "".join(element("th", text(name)) for name in records[0])
    rows = [element("tr", "".join(_cell(name, value) for name, value in record.items())) for record in records]
    return element("h2", text(title)) + element("div", element("table", element("tr", head) + "\n".join(rows)), class_="scroll")


def _cell(name: str, value: Any) -> str:
    said = size_text(value) if name in SIZES else "" if value is None else str(value)
    return element("td", text(said), class_="number" if name in SIZES or isinstance(value, int) else None)
