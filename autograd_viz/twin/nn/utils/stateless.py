"""A module called with other parameters and buffers than its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.ops.shape.joining import stack
from ..module import Module


@contextmanager
def _swapped(module: Module, tensors: dict[str, Any]) -> Iterator[None]:
    """A block in which the named parameters and buffers are others."""
    undo: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for full, tensor in tensors.items():
            path, _, name = full.rpartition(".")
            owner = module.get_submodule(path)
            kept = next((k for k in (owner._parameters, owner._buffers) if name in k), None)
            if kept is not None:
                undo.append((kept, name, kept[name]))
                kept[name] = tensor
        yield
    finally:
        for kept, name, before in undo:
            kept[name] = before


def functional_call(
    module: Module, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other tensors in place of some of its parameters and buffers, which stay as they are.

    The tensors are in a dictionary by dotted names, or in several; `args` in a tuple, or the only one. With `tie_weights` a
    tensor also replaces the parameters that share memory under other names.
    Raises RuntimeError: `strict`, and the names are not those of the module.
    """
    given = parameter_and_buffer_dicts
    tensors = dict(given) if isinstance(given, dict) else {n: t for part in given for n, t in part.items()}
    own = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}
    if strict and (tensors.keys() != own.keys()):
        wrong = {"Missing": sorted(own.keys() - tensors.keys()), "Unexpected": sorted(tensors.keys() - own.keys())}
        raise RuntimeError("Error(s) in loading state: " + "; ".join(f"{k} key(s): {v}" for k, v in wrong.items() if v))
    if tie_weights:
        tensors |= {n: tensors[m] for n, p in own.items() for m in own if n not in tensors and m in tensors and own[m] is p}
    inputs = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, tensors):
        return module(*inputs, **(kwargs or {}))


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of models of one kind, and their buffers, stacked by name."""
    names, buffers = dict(models[0].named_parameters()), dict(models[0].named_buffers())
    params = {n: stack([m.get_parameter(n) for m in models]).detach().requires_grad_(p.requires_grad) for n, p in names.items()}
    return params, {n: stack([m.get_buffer(n) for m in models]).detach() for n in buffers}
