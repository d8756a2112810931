"""What ops run in: lines, modules, scopes, and functions of the user's."""

from __future__ import annotations

from typing import Annotated

from .limits import SIZE, Between
from .quick import dataclass

Count = Annotated[int, Between(0, SIZE)]
MARKS = ("checkpointed", "compiled", "eval", "frozen")


@dataclass(frozen=True, slots=True)
class Source:
    """A place in the user's code. Lines count from 1, columns from 0 in characters; both ends are as Python gives them."""

    file: str
    line: Count
    end_line: Count
    column: Count
    end_column: Count
    text: str = ""  # the lines from `line` to `end_line` as they stand in the file
    function: str = ""  # the name of the function around them, if it has one

    @property
    def expression(self) -> str:
        """The code at the place, if it stands on one line and is known; else ""."""
        return self.text[self.column : self.end_column] if self.line == self.end_line else ""

    def contains(self, other: Source) -> bool:
        """Does an expression of the same line stand in this one?"""
        return self.column <= other.column and other.end_column <= self.end_column


@dataclass(frozen=True, slots=True)
class Module:
    """A module that was called, or a scope."""

    path: str  # as in `Op.module`: "encoder.layers.0"; empty for the model itself
    name: str = ""  # the class: "DecoderLayer"; empty for a scope
    hooks: Count = 0  # how many forward and backward hooks of the user's it has
    # some of `MARKS`: its call was checkpointed, some of its ops ran compiled, it is not in training mode, no parameter of it
    # requires grad
    marks: tuple[str, ...] = ()
    source: Source | None = None  # the user's expression that called it, if one is known and there is only one


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function of the user's. The `forward` of a module is none: the module is called."""

    name: str  # the function's; of an object that is called, its class
    module: str = ""  # path of the innermost module or scope around it
    above: Count | None = None  # index in `Document.calls` of the call around it, which comes before
