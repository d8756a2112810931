"""FSDP (`fully_shard`): the parameter of the user's is a shard; the graph's leaf is the whole, gathered for each pass."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from typing import Any

from .nodes import variable_of


def sharded(tensor: Any) -> Any:
    """What FSDP knows of a parameter that it has sharded, or None."""
    return next((p for s in _states() for p in _parameters(s) if p.sharded_param is tensor), None)


def whole_of(tensor: Any) -> Any:
    """The leaf that the graph has for a sharded parameter, or None."""
    return None if (p := sharded(tensor)) is None else getattr(p, "_unsharded_param", None)


def ranks_of(parameter: Any) -> int:
    """Over how many ranks it is sharded."""
    return int(parameter.mesh_info.shard_mesh_size)


def states_of(nodes: Iterable[Any]) -> list[Any]:
    """The states of `fully_shard` that gather leaves of these nodes, and those of all modules under the same root."""
    leaves = {leaf for n in nodes if (leaf := variable_of(n)) is not None}
    states = [s for s in _states() if any(getattr(p, "_unsharded_param", None) in leaves for p in _parameters(s))]
    return list(dict.fromkeys(s for state in states for s in (state._state_ctx.all_states or [state])))


def held_by(groups: Iterable[Any]) -> list[Any]:
    """The tensors whose grads the end of a pass through these groups of parameters changes: shards, and what was gathered."""
    found = (t for g in groups for p in g.fsdp_params for t in (p.sharded_param, getattr(p, "_unsharded_param", None)))
    return [t for t in found if t is not None]


def _states() -> list[Any]:
    """All states of `fully_shard` that are alive."""
    module = sys.modules.get("torch.distributed.fsdp._fully_shard._fsdp_state")
    return [] if module is None else [s for s in gc.get_referrers(module.FSDPState) if isinstance(s, module.FSDPState)]


def _parameters(state: Any) -> list[Any]:
    return [p for group in state._fsdp_param_groups for p in group.fsdp_params]
