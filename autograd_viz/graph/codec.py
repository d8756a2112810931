"""Documents and traces as JSON, with a schema version, and back.

Every dataclass becomes an object of its non-default fields; nan, the infinities and complex numbers, which JSON lacks, become
strings.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import types
import typing
from typing import Any

from ..errors import DocumentError
from .model import Document
from .references import check_references
from .trace import Trace

SCHEMA_VERSION = 1

_SIZE = r"(inf|nan|[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?)"
COMPLEX = rf"^(\(-?{_SIZE}[-+]{_SIZE}j\)|-?{_SIZE}j)$"  # as Python writes it: 2j, (1+2j)
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def document_to_json(document: Document) -> str:
    """One JSON object: {"schema": 1, "document": {...}}."""
    return json.dumps({"schema": SCHEMA_VERSION, "document": to_plain(document)}, ensure_ascii=False)


def document_from_json(text: str) -> Document:
    """The document that `document_to_json` wrote.

    Raises:
        DocumentError: not JSON, another schema version, or fields that do not fit.
    """
    return typing.cast(Document, _read(text, "document", Document))


def trace_to_json(trace: Trace) -> str:
    """One JSON object: {"schema": 1, "trace": {...}}."""
    return json.dumps({"schema": SCHEMA_VERSION, "trace": to_plain(trace)}, ensure_ascii=False)


def trace_from_json(text: str) -> Trace:
    """The trace that `trace_to_json` wrote.

    Raises:
        DocumentError: as `document_from_json`.
    """
    return typing.cast(Trace, _read(text, "trace", Trace))


def recording_to_json(document: Document, trace: Trace) -> str:
    """Both in one JSON object: {"schema": 1, "document": {...}, "trace": {...}}."""
    return json.dumps({"schema": SCHEMA_VERSION, "document": to_plain(document), "trace": to_plain(trace)}, ensure_ascii=False)


def recording_from_json(text: str) -> tuple[Document, Trace]:
    """The document and the trace that `recording_to_json` wrote.

    Raises:
        DocumentError: as `document_from_json`; or an id names nothing.
    """
    document, trace = document_from_json(text), trace_from_json(text)
    check_references(document, trace)
    return document, trace


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
    """Names and defaults of a dataclass; what has no default is different from everything."""
    return tuple((f.name, f.default) for f in dataclasses.fields(kind))


def _read(text: str, key: str, kind: type) -> Any:
    try:
        outer = json.loads(text)
    except ValueError as error:
        raise DocumentError(f"this is not JSON: {error}") from None
    if not isinstance(outer, dict) or key not in outer:
        raise DocumentError(f"this JSON holds no {key}")
    if outer.get("schema") != SCHEMA_VERSION:
        raise DocumentError(f"schema version {outer.get('schema')!r} cannot be read; this is version {SCHEMA_VERSION}")
    return from_plain(outer[key], kind, key)


def from_plain(plain: Any, kind: Any, where: str) -> Any:
    """The value of type `kind` that `to_plain` made `plain` of.

    Raises:
        DocumentError: it does not fit; the message says where.
    """
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_from(plain, kind, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if not isinstance(plain, list):
            raise DocumentError(f"{where}: expected a list, got {type(plain).__name__}")
        return tuple(from_plain(p, arguments[0], f"{where}[{i}]") for i, p in enumerate(plain))
    if origin in (types.UnionType, typing.Union):
        return _union_from(plain, arguments, where)
    if kind is float and (isinstance(plain, float) or plain in SPECIAL):
        return SPECIAL.get(plain, plain) if isinstance(plain, str) else plain
    if kind is type(None) or type(plain) is not kind:
        raise DocumentError(f"{where}: expected {getattr(kind, '__name__', kind)}, got {plain!r}")
    return plain


def _union_from(plain: Any, kinds: tuple[Any, ...], where: str) -> Any:
    """`plain` as the one of `kinds` that fits."""
    if plain is None and type(None) in kinds:
        return None
    if isinstance(plain, str) and plain in SPECIAL and float in kinds:
        return SPECIAL[plain]
    if isinstance(plain, str) and complex in kinds and re.match(COMPLEX, plain):
        return complex(plain)
    present: list[Any] = [k for k in kinds if k is not type(None)]
    if len(present) == 1:
        return from_plain(plain, present[0], where)
    if type(plain) not in present:
        raise DocumentError(f"{where}: {plain!r} is none of {', '.join(k.__name__ for k in present)}")
    return plain


_hints = functools.cache(typing.get_type_hints)  # slow, and asked for each object


def _dataclass_from(plain: Any, kind: type, where: str) -> Any:
    if not isinstance(plain, dict):
        raise DocumentError(f"{where}: expected an object, got {type(plain).__name__}")
    hints = _hints(kind)
    if unknown := plain.keys() - hints.keys():
        raise DocumentError(f"{where}: unknown field {sorted(unknown)[0]!r}")
    fields = {name: from_plain(p, hints[name], f"{where}.{name}") for name, p in plain.items()}
    try:
        return kind(**fields)
    except TypeError as error:
        raise DocumentError(f"{where}: {error}") from None
