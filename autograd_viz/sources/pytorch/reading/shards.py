"""FSDP (`fully_shard`): the user's parameter is a shard. The leaf in the graph is the full tensor, gathered for each pass."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from typing import Any

from .nodes import variable_of


def sharded(tensor: object) -> Any:
    """What FSDP knows of a sharded parameter; None for another tensor."""
    return next((p for s in _states() for p in _parameters(s) if p.sharded_param is tensor), None)


def whole_of(tensor: object) -> Any:
    """The leaf in the graph for a sharded parameter, or None."""
    return None if (p := sharded(tensor)) is None else getattr(p, "_unsharded_param", None)


def states_of(nodes: Iterable[Any]) -> list[Any]:
    """The states of `fully_shard` that gather leaves of these nodes, and those of all modules under the same root."""
    leaves = {leaf for n in nodes if (leaf := variable_of(n)) is not None}
    states = [s for s in _states() if any(getattr(p, "_unsharded_param", None) in leaves for p in _parameters(s))]
    return list(dict.fromkeys(s for state in states for s in (state._state_ctx.all_states or [state])))


def tensors_of(groups: Iterable[Any]) -> list[Any]:
    """The tensors whose grads change at the end of a pass through these parameter groups: shards, and gathered tensors."""
    found = (t for g in groups for p in g.fsdp_params for t in (p.sharded_param, getattr(p, "_unsharded_param", None)))
    return [t for t in found if t is not None]


def _states() -> list[Any]:
    module = sys.modules.get("torch.distributed.fsdp._fully_shard._fsdp_state")
    return [] if module is None else [s for s in gc.get_referrers(module.FSDPState) if isinstance(s, module.FSDPState)]


def _parameters(state: Any) -> list[Any]:
    return [p for group in state._fsdp_param_groups for p in group.fsdp_params]


def shard_of(whole: object) -> Any:
    """What FSDP knows of a leaf that it has gathered; None for another tensor."""
    return next((p for s in _states() for p in _parameters(s) if getattr(p, "_unsharded_param", None) is whole), None)
