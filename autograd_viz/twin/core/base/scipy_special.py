"""scipy.special. The first op that needs it loads it, because it takes as long to load as the whole package."""

from __future__ import annotations

from typing import Any


class _Special:
    """The functions of scipy.special, each looked up once."""

    def __getattr__(self, name: str) -> Any:
        from scipy import special

        self.__dict__[name] = getattr(special, name)
        return self.__dict__[name]


special = _Special()
