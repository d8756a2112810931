"""scipy.special, which takes as long to load as the whole package: it is loaded by the first op that needs it."""

from __future__ import annotations

from typing import Any


class _Special:
    """Its functions; each is looked up once."""

    def __getattr__(self, name: str) -> Any:
        from scipy import special

        self.__dict__[name] = getattr(special, name)
        return self.__dict__[name]


special = _Special()
