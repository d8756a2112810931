"""The JSON Schema of what codec.py writes, made from the same dataclasses."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from typing import Any

from .codec import SCHEMA_VERSION
from .limits import ANY_INT, ITEMS, LETTERS
from .model import Document
from .reading import COMPLEX, SPECIAL
from .trace import Trace

_PLAIN: dict[Any, Callable[[Any], dict[str, Any]]] = {  # by type: its schema, with a limit (limits.py) or the type's own
    type(None): lambda _: {"type": "null"},
    bool: lambda _: {"type": "boolean"},
    int: lambda limit: {"type": "integer", "minimum": (limit or ANY_INT).least, "maximum": (limit or ANY_INT).most},
    float: lambda _: {"anyOf": [{"type": "number"}, {"enum": list(SPECIAL)}]},
    complex: lambda _: {"type": "string", "pattern": COMPLEX},
    str: lambda limit: {"type": "string", **({"maxLength": LETTERS} if limit is None else {"pattern": limit.pattern})},
}


def json_schema() -> dict[str, Any]:
    """The schema of a .json that `save` writes (JSON Schema, draft 2020-12)."""
    definitions: dict[str, Any] = {}
    parts = {"document": _schema_of(Document, definitions), "trace": _schema_of(Trace, definitions)}
    properties = {"schema": {"const": SCHEMA_VERSION}, **parts}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A recorded backward pass of autograd_viz",
        **{"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False},
        "$defs": definitions,
    }


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; dataclasses are added to `definitions`."""
    kind, limit = typing.get_args(kind)[:2] if typing.get_origin(kind) is typing.Annotated else (kind, None)
    if kind in _PLAIN:
        return _PLAIN[kind](limit)
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is tuple:
        most = ITEMS if limit is None else limit
        return {"type": "array", "items": _schema_of(arguments[0], definitions), "maxItems": most}
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return {"anyOf": [_schema_of(k, definitions) for k in arguments]}
    if kind.__name__ not in definitions:
        own = definitions[kind.__name__] = {"type": "object"}  # there already, for a dataclass that contains itself
        hints, fields = typing.get_type_hints(kind, include_extras=True), dataclasses.fields(kind)
        own["properties"] = {f.name: _schema_of(hints[f.name], definitions) for f in fields}
        own["required"] = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING]
        own["additionalProperties"] = False
    return {"$ref": f"#/$defs/{kind.__name__}"}
