"""Documents and traces as JSON, with a schema version, and back. A dataclass becomes an object of its non-default fields; nan,
the infinities and complex numbers, which JSON lacks, become strings.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import reprlib
import typing
from typing import Any

from ..errors import DocumentError
from .limits import BYTES, FREE, PER_LIST, PER_OBJECT
from .model import Document
from .reading import MisfitError, reader_of
from .references import check_references
from .trace import Trace

SCHEMA_VERSION = 1


def document_to_json(document: Document) -> str:
    """One JSON object: {"schema": 1, "document": {...}}."""
    return _to_json(document=document)


def document_from_json(text: str) -> Document:
    """The document that `document_to_json` wrote. DocumentError if it is none."""
    return typing.cast(Document, _read(outer_from_json(text), "document", Document))


def trace_to_json(trace: Trace) -> str:
    """One JSON object: {"schema": 1, "trace": {...}}."""
    return _to_json(trace=trace)


def trace_from_json(text: str) -> Trace:
    """The trace that `trace_to_json` wrote. DocumentError if it is none."""
    return typing.cast(Trace, _read(outer_from_json(text), "trace", Trace))


def recording_to_json(document: Document, trace: Trace) -> str:
    """Both in one JSON object: {"schema": 1, "document": {...}, "trace": {...}}."""
    return _to_json(document=document, trace=trace)


def _to_json(**parts: Document | Trace) -> str:
    return json.dumps({"schema": SCHEMA_VERSION, **{name: to_plain(part) for name, part in parts.items()}}, ensure_ascii=False)


def recording_from_json(text: str) -> tuple[Document, Trace]:
    """The document and the trace that `recording_to_json` wrote. DocumentError: it is none, or an id names nothing."""
    outer = outer_from_json(text)
    document, trace = _read(outer, "document", Document), _read(outer, "trace", Trace)
    check_references(document, trace)
    return document, trace


def outer_from_json(text: str) -> dict[str, Any]:
    """The object in a text that `save` wrote. DocumentError: no JSON, too large or dense (limits.py), or another version."""
    if len(text) > BYTES:
        raise DocumentError(f"a document of {len(text):,} characters is too long; the limit is {BYTES:,}")
    for mark, what, each in (("{", "objects", PER_OBJECT), ("[", "lists", PER_LIST)):  # more than `save` writes
        if text.count(mark) * each > len(text) + FREE:
            raise DocumentError(f"this is not a document: {text.count(mark):,} {what} in {len(text):,} characters")
    try:
        outer = json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON, or a thousand nested brackets
        raise DocumentError(f"this is not JSON: {error}") from None
    if not isinstance(outer, dict):
        raise DocumentError("this JSON has no document")
    if outer.get("schema") != SCHEMA_VERSION:
        version = reprlib.repr(outer.get("schema"))
        raise DocumentError(f"cannot read schema version {version}; this version reads {SCHEMA_VERSION}")
    return outer


def to_plain(value: Any) -> Any:
    """Dicts, lists, strings and numbers only."""
    if isinstance(value, tuple):
        return [v if type(v) in _AS_THEY_ARE else to_plain(v) for v in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    kind: Any = type(value)
    if kind in _AS_THEY_ARE or not dataclasses.is_dataclass(value):
        return value
    there = ((name, getattr(value, name), default) for name, default in _fields(kind))
    return {name: v if type(v) in _AS_THEY_ARE else to_plain(v) for name, v, default in there if v != default}


_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Names and defaults of a dataclass. A field without a default gets a value that equals nothing."""
    return tuple((f.name, f.default) for f in dataclasses.fields(kind))


def _read(outer: dict[str, Any], key: str, kind: type) -> Any:
    """The value that `to_plain` gave, under a key. DocumentError says where it does not fit."""
    if key not in outer:
        raise DocumentError(f"this JSON has no {key}")
    try:
        return reader_of(kind)(outer[key])
    except MisfitError as misfit:
        raise DocumentError(f"{key}{misfit.place}: {misfit.reason}") from None
