"""Saving and loading: the state of a module is a dictionary from dotted names to tensors."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .parameter import Parameter


class IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that did not fit when a state was loaded."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"_{super().__repr__()}" if any(self) else "<All keys matched successfully>"


EXTRA = "_extra_state"  # the name of what `get_extra_state` returns
_NEVER = (
    "Reached a code path in Module.{}() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


class State:
    """The part of Module that saves and loads."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def _own_state(self) -> dict[str, Tensor]:
        """The tensors of this module, without its submodules."""
        both = {**self._parameters, **{n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}}
        return {n: t for n, t in both.items() if t is not None}

    def get_extra_state(self) -> Any:
        """State that is no parameter or buffer. A subclass returns it, and takes it in `set_extra_state`."""
        raise RuntimeError(_NEVER.format("get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` returned."""
        raise RuntimeError(_NEVER.format("set_extra_state"))

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by dotted name, after `prefix`. They share memory with the module.

        `destination` is a dictionary to fill. With `keep_vars` they are the Parameters themselves, not detached tensors.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy values by name into parameters and buffers; with `assign`, use the given tensors themselves.

        Raises TypeError: not a dictionary. Raises RuntimeError: shapes differ, or (strict) names; one message lists all.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        expected = dict(_places(self))
        missing = [n for n in expected if n not in state_dict]
        unexpected = [n for n in state_dict if n not in expected]
        errors = [e for n, place in expected.items() if n in state_dict for e in _load(n, *place, state_dict[n], assign)]
        if strict and missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if strict and unexpected:
            errors.insert(bool(missing), f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if errors:
            raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {type(self).__name__}:", *errors]))
        return IncompatibleKeys(missing, unexpected)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{n}"' for n in names)


def _places(module: Any, prefix: str = "") -> Iterator[tuple[str, tuple[Any, str]]]:
    """Each full name, with the module and the name in that module."""
    for name in module._own_state():
        yield prefix + name, (module, name)
    if type(module).set_extra_state is not State.set_extra_state:
        yield prefix + EXTRA, (module, EXTRA)
    for name, child in module._modules.items():
        if child is not None:
            yield from _places(child, f"{prefix}{name}.")


def _load(full: str, module: Any, name: str, given: Any, assign: bool) -> list[str]:
    """Load one tensor. Returns the error messages."""
    if name == EXTRA:
        module.set_extra_state(given)
        return []
    mine = getattr(module, name)
    if not isinstance(given, Tensor):
        return [f'While copying the parameter named "{full}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(given)}"]  # fmt: skip
    if given.shape != mine.shape:
        return [f"size mismatch for {full}: copying a param with shape {given.shape} from checkpoint, the shape in current "
                f"model is {mine.shape}."]  # fmt: skip
    if assign:
        setattr(module, name, Parameter(given, mine.requires_grad) if isinstance(mine, Parameter) else given)
    else:
        np.copyto(mine._data, given._data, casting="unsafe")
        mine._bump_version()
    return []
