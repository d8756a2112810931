"""The JSON Schema of what codec.py writes, made of the same dataclasses."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from .codec import COMPLEX, SCHEMA_VERSION, SPECIAL
from .model import Document
from .trace import Trace

_PLAIN = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def json_schema() -> dict[str, Any]:
    """The schema of a .json that `save` writes (JSON Schema, draft 2020-12)."""
    definitions: dict[str, Any] = {}
    properties = {
        "schema": {"const": SCHEMA_VERSION},
        "document": _schema_of(Document, definitions),
        "trace": _schema_of(Trace, definitions),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A recorded backward pass of autograd_viz",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": definitions,
    }


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; dataclasses are written into `definitions`."""
    if kind is float:
        return {"anyOf": [{"type": "number"}, {"enum": list(SPECIAL)}]}
    if kind is complex:
        return {"type": "string", "pattern": COMPLEX}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is tuple:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return {"anyOf": [_schema_of(k, definitions) for k in arguments]}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # its place, should it hold itself
        definitions[kind.__name__] = _object(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return {
        "type": "object",
        "properties": {f.name: _schema_of(hints[f.name], definitions) for f in fields},
        "required": [f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING],
        "additionalProperties": False,
    }
