"""A record whose fields are made when somebody reads one of them: most steps of a long pass are never looked at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

Writer = tuple[Collection[str], Callable[[], Mapping[str, Any]]]  # some fields, and what makes all of them at once


class MadeWhenRead:
    """Base of a frozen dataclass with slots: a field that has no value yet is made when it is read."""

    __slots__ = ("_addresses", "_writers")

    def make_later(self, *writers: Writer) -> None:
        """Say for all fields that have no value yet who makes them."""
        object.__setattr__(self, "_writers", writers)

    if not TYPE_CHECKING:  # a type checker is to know the fields, and no others

        def __getattr__(self, name: str) -> Any:
            """Python asks here only for what has no value. If a writer raises, nothing is made, and it is asked again."""
            writers = () if name[0] == "_" else getattr(self, "_writers", ())
            for writer in writers:
                if name in writer[0]:
                    for field, value in writer[1]().items():
                        object.__setattr__(self, field, value)
                    object.__setattr__(self, "_writers", tuple(w for w in self._writers if w is not writer))
                    return object.__getattribute__(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
