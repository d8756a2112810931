"""The user's names for a later question. They hold no graph and no module alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .anything import is_leaf
from .shared.names import Chosen, Names, modules_among, names_by_identity


class NamesLater:
    """What names meant when they were read, as far as it is still alive when it is asked for.

    A result that held the caller's variables would hold the result before it, and so every model that a cell has made.

    Args:
        known: the caller's variables.
        is_tensor: tells what is named.
    """

    def __init__(self, known: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> None:
        self._taken = [*known, *getattr(known, "chosen", ())]
        # a leaf is held: PyTorch refuses to swap a tensor that has weak references, as `module.to()` may do with parameters
        named = names_by_identity(known, is_tensor)
        self._tensors = [(name, partial(_itself, t) if is_leaf(t) else weakref.ref(t)) for name, t in named]
        self._modules = [(name, weakref.ref(m)) for name, m in modules_among(known)]

    def __call__(self) -> Names:
        """The names of what is alive."""
        chosen, modules = Chosen(), dict[str, Any]()
        for name, tensor in self._tensors:
            if tensor() is not None:
                chosen.setdefault(name, tensor())
        for name, module in self._modules:
            if name:
                modules[name] = module()
            else:  # the names were chosen from it
                chosen.module = module()
        return Names({**dict.fromkeys(self._taken), **modules}, chosen)


def _itself(tensor: Any) -> Any:
    return tensor
