"""Calls the node of a user's ``torch.autograd.Function`` as PyTorch's engine does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from ..reading import older
from ..reading.hooks import HookRunner, gradients_at
from ..reading.nodes import COMPILED, Metadata, outputs_of


class _NotCalledError(Exception):
    """The engine has come to the call; it is stopped there."""


def call_function(node: Any, grads: list[Any], hooks: HookRunner) -> tuple[Any, ...]:
    """Run the node by hand: the gradients of the arguments that are tensors.
    RuntimeError: a wrong number of gradients, or a gradient that is no tensor; in PyTorch's words.
    """
    if any(g is None for g in grads):
        grads = _as_the_engine_gives(node, grads, hooks)
    with _reusable(node):
        results = node.apply(*grads)
    results = results if isinstance(results, tuple) else (results,)
    needs = node.needs_input_grad
    if len(results) > len(needs) and all(r is None for r in results[len(needs) :]):
        results = results[: len(needs)]
    if len(results) != len(needs):
        raise RuntimeError(
            f"function {node.name()} returned an incorrect number of gradients (expected {len(needs)}, got {len(results)})"
        )
    no_tensors = _no_tensors(needs, [after is not None for after, _ in node.next_functions])
    for i, r in enumerate(results):
        if r is not None and i in no_tensors:
            raise RuntimeError(
                f"function {node.name()} returned a gradient different than None at position {i + 1}, but the corresponding "
                "forward input was not a Variable"
            )
        if r is not None and not isinstance(r, torch.Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(r).__name__})")
    # some arguments were no tensors; those that need a gradient match the edges that lead somewhere, in order
    wanted = iter([r for r, need in zip(results, needs, strict=True) if need])
    return tuple(None if after is None else next(wanted, None) for after, _ in node.next_functions)


def _as_the_engine_gives(node: Any, grads: list[Any], hooks: HookRunner) -> list[Any]:
    """Zeros where nothing has arrived, unless the Function has called ``ctx.set_materialize_grads(False)``. The node does not
    tell which, so the engine is asked: it goes as far as the call. (Before PyTorch 2.5 the dry run has asked.)
    """
    if older.IS_OLDER:
        wants = node.metadata.get(older.MATERIALIZES, True)
        return [_zeros(m) if g is None and wants and m.is_known else g for g, m in zip(grads, outputs_of(node), strict=True)]
    there = [i for i, g in enumerate(grads) if g is not None]
    given = there or [0]  # the engine needs something to start with
    starts = [grads[i] for i in there] or [_zeros(outputs_of(node)[0])]
    found: list[Any] = []

    def stop(*seen: object) -> Any:
        found.extend(seen)
        raise _NotCalledError

    node.apply = stop
    if hasattr(node, "apply_boxed"):  # it takes a list if the Function says `boxed_grads_call`, as compiled ones do
        node.apply_boxed = lambda boxed: stop(*boxed)
    ends = [GradientEdge(after, i) for after, i in node.next_functions if after is not None]
    try:
        with hooks.silent(node), torch.autograd.set_detect_anomaly(False):  # to the next nodes: no grad can be written
            gradients_at([GradientEdge(node, i) for i in given], ends, starts, hooks.create_graph)
    except _NotCalledError:
        pass
    finally:
        del node.apply
        vars(node).pop("apply_boxed", None)
    return [s if g is None else g for g, s in zip(grads, found, strict=True)]


def _zeros(like: Metadata) -> Any:
    return torch.zeros(like.shape, dtype=like.dtype, device=like.device)


def _no_tensors(needs: Sequence[bool], leads: Sequence[bool]) -> set[int]:
    """Which arguments were certainly no tensors. `needs` is by argument, `leads` by edge: does it lead somewhere? Only tensors
    have edges; a tensor that needs no gradient has one that leads nowhere.
    """
    if sum(needs) != sum(leads):  # the Function has changed
        return set()
    between = zip(_gaps(needs), _gaps(leads), strict=True)  # two arguments that need a gradient
    return {i for arguments, edges in between if not edges for i in arguments}


def _gaps(flags: Sequence[bool]) -> list[list[int]]:
    """The indices of False before, between and after the indices of True."""
    gaps: list[list[int]] = [[]]
    for i, flag in enumerate(flags):
        if flag:
            gaps.append([])
        else:
            gaps[-1].append(i)
    return gaps


@contextmanager
def _reusable(node: Any) -> Iterator[None]:
    """A compiled backward may write into its saved tensors: inside it may, and afterwards they are restored."""
    config = sys.modules.get("torch._functorch.config")
    if type(node).__name__ != COMPILED or not getattr(config, "donated_buffer", False):
        yield
        return
    storages = [t.untyped_storage() for t in node.saved_tensors if t is not None and t.layout is torch.strided]
    copies = [s.clone() for s in storages]
    try:
        with config.patch(donated_buffer=False):  # type: ignore[union-attr]
            yield
    finally:
        for storage, copy in zip(storages, copies, strict=True):
            storage.copy_(copy)
