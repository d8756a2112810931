"""A record whose fields are made when one of them is read. Nobody looks at most steps of a long pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

Writer = tuple[Collection[str], Callable[[], Mapping[str, Any]]]  # some fields, and what makes all of them at once


class MadeWhenRead:
    """Base of a frozen dataclass with slots: a field without a value is made when it is read."""

    __slots__ = ("_addresses", "_writers")

    def make_later(self, *writers: Writer) -> None:
        """Say who makes the fields that have no value yet."""
        object.__setattr__(self, "_writers", writers)

    if not TYPE_CHECKING:  # a type checker should know only the fields

        def __getattr__(self, name: str) -> Any:
            """Make a field that has no value; Python calls this for no other. If a writer raises, the next read tries again."""
            writers = () if name[0] == "_" else getattr(self, "_writers", ())
            for writer in writers:
                if name in writer[0]:
                    for field, value in writer[1]().items():
                        object.__setattr__(self, field, value)
                    object.__setattr__(self, "_writers", tuple(w for w in self._writers if w is not writer))
                    return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
