"""Makes a document's dataclasses of plain dicts, lists, strings and numbers, or says where these do not fit.

Each type of a field has one reader. It takes a plain value and gives the field's value, or raises `MisfitError`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import reprlib
import types
import typing
from collections.abc import Callable
from typing import Any

from .limits import ANY_INT, DEPTH, ITEMS, LETTERS, SIZE, Between, Named
from .model import REASONS, Op, Summary, Tensor, Value
from .surroundings import MARKS, Call, Module
from .trace import Jacobian, Step


def _value(v: Value) -> str:
    count = math.prod(v.shape)
    if count > SIZE:
        return f"no tensor has {v.shape} elements"
    if v.numbers and len(v.numbers) != count:
        return f"{len(v.numbers):,} numbers do not fit the shape {v.shape}"
    return ""


def _path(path: str) -> str:
    return f"a module {DEPTH} deep and more" if path.count(".") >= DEPTH else ""


# what must hold inside one value of a file, beyond the types of its fields; else what is wrong
CHECKS: dict[type, Callable[[Any], str]] = {
    Value: _value,
    Summary: lambda s: "" if len(s.thumbnail) == s.rows * s.columns else
        f"{len(s.thumbnail):,} numbers do not fit a thumbnail of {s.rows} x {s.columns}",
    Tensor: lambda t: f"a name with more than {DEPTH} dots" if (t.name or "").count(".") > DEPTH else "",
    Op: lambda o: _path(o.module) or ("" if o.reason in ("", *REASONS) else f"a reason other than {', '.join(REASONS)}"),
    Module: lambda m: _path(m.path) or
        ("" if {*MARKS}.issuperset(m.marks) else f"a module has marks other than {', '.join(MARKS)}"),
    Call: lambda c: _path(c.module),
    Jacobian: lambda j: "" if len(j.value.shape) == 2 else f"a Jacobian is a matrix, got the shape {j.value.shape}",
    Step: lambda s: "" if all(i < len(s.grad_outputs) for i in s.edited) else
        f"it edits {max(s.edited)}, and has {len(s.grad_outputs)} grad_outputs",
}  # fmt: skip


_SIZE = r"(inf|nan|[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?)"
COMPLEX = rf"^(\(-?{_SIZE}[-+]{_SIZE}j\)|-?{_SIZE}j)$"  # as Python writes it: 2j, (1+2j)
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
Reader = Callable[[Any], Any]


class MisfitError(Exception):
    """A plain value does not fit a field. Its place is added on the way out."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def _expected(what: str, plain: Any) -> MisfitError:
    return MisfitError(f"expected {what}, got {reprlib.repr(plain)}")


@functools.cache
def reader_of(kind: Any) -> Reader:
    """The reader of a type with a limit (limits.py), or with the limit of the type itself."""
    kind, limit = typing.get_args(kind)[:2] if typing.get_origin(kind) is typing.Annotated else (kind, None)
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        return _tuple_reader(reader_of(arguments[0]), ITEMS if limit is None else limit)
    if origin in (types.UnionType, typing.Union):
        present = [k for k in arguments if k is not types.NoneType]
        read = _number_reader(present) if len(present) > 1 else reader_of(present[0])
        return read if len(present) > 1 else lambda plain: None if plain is None else read(plain)
    if kind is str:
        return _text if limit is None else _id_reader(limit)
    if kind is int:
        return _int_reader(limit or ANY_INT)
    return {float: _float, bool: _bool}[kind]


def _bool(plain: Any) -> bool:
    if type(plain) is not bool:
        raise _expected("bool", plain)
    return plain


def _float(plain: Any) -> float:
    if type(plain) is float:
        return plain
    if type(plain) is str and plain in SPECIAL:
        return SPECIAL[plain]
    raise _expected("float", plain)


def _text(plain: Any) -> str:
    if type(plain) is not str:
        raise _expected("str", plain)
    if len(plain) > LETTERS:
        raise MisfitError(f"a text of {len(plain):,} characters is too long; the limit is {LETTERS:,}")
    return plain


def _id_reader(limit: Named) -> Reader:
    fits = re.compile(limit.pattern).fullmatch

    def read(plain: Any) -> str:
        if type(plain) is not str:
            raise _expected("str", plain)
        if fits(plain) is None:
            raise _expected(f"{limit.letter} and a number", plain)
        return plain

    return read


def _int_reader(limit: Between) -> Reader:
    least, most = limit

    def read(plain: Any) -> int:
        if type(plain) is not int:
            raise _expected("int", plain)
        if not least <= plain <= most:
            raise _expected(f"{least}" if least == most else f"{least} to {most}", plain)
        return plain

    return read


def _number_reader(kinds: list[Any]) -> Reader:
    names, read_int = ", ".join(k.__name__ for k in kinds), _int_reader(ANY_INT)

    def read(plain: Any) -> Any:
        if type(plain) is float or type(plain) is bool:
            return plain
        if type(plain) is int:
            return read_int(plain)
        if type(plain) is str and plain in SPECIAL:
            return SPECIAL[plain]
        if type(plain) is str and re.match(COMPLEX, plain):
            return complex(plain)
        raise MisfitError(f"{reprlib.repr(plain)} is not one of {names}")

    return read


def _tuple_reader(item: Reader, most: int) -> Reader:
    def read(plain: Any) -> tuple[Any, ...]:
        if type(plain) is not list:
            raise MisfitError(f"expected a list, got {type(plain).__name__}")
        if len(plain) > most:
            raise MisfitError(f"a list of {len(plain):,} is too long; the limit is {most:,}")
        found: list[Any] = []
        try:
            found.extend(map(item, plain))  # until one does not fit
        except MisfitError as misfit:
            raise MisfitError(misfit.reason, f"[{len(found)}]{misfit.place}") from None
        return tuple(found)

    return read


def _dataclass_reader(kind: Any) -> Reader:
    readers: dict[str, Reader] = {}
    check = CHECKS.get(kind)

    def read(plain: Any) -> Any:
        if type(plain) is not dict:
            raise MisfitError(f"expected an object, got {type(plain).__name__}")
        fields, name = {}, ""
        try:
            for name, p in plain.items():
                fields[name] = readers[name](p)
        except MisfitError as misfit:
            raise MisfitError(misfit.reason, f".{name}{misfit.place}") from None
        except KeyError:
            raise MisfitError(f"unknown field {reprlib.repr(name)}") from None
        try:
            value = kind(**fields)
        except TypeError as error:
            raise MisfitError(str(error)) from None
        if check is not None and (wrong := check(value)):
            raise MisfitError(wrong)
        return value

    hints = typing.get_type_hints(kind, include_extras=True)
    readers |= {f.name: reader_of(hints[f.name]) for f in dataclasses.fields(kind)}
    return read
