"""What a pass exchanges with the other ranks of a job, and what a step can delay, take back or must wait for.

# Note [Ranks]
A step that communicates waits until every rank has come to it. One rank alone would wait for ever, or be paired with another's
`backward()`. So the ranks meet first, in the store that made the process group: the store pairs with no collective. If a rank
is missing, an error names it, and nothing has run.

# Note [What waits]
DDP's reduction is delayed to the last AccumulateGrad of a replica: see Note [Replicas]. All other communication is in the graph
itself: FSDP's gathers, DTensor's redistributions, collectives with a gradient. Such a pass begins when all ranks have come.

# Note [Replicas]
DDP's reducer is a C++ hook on AccumulateGrad. PyTorch's engine runs it, a call by hand does not. So steps call these nodes by
hand. Nothing is sent before the last one. So any rank may step at its own pace, and a pass that is taken back (`save`) leaves
the reducer alone. With the last one, the engine runs all of them again with a gradient of -0.0, which changes no bit. The
reducer's hooks then run in the order of the pass, and reduce their buckets as in `backward()`.
A reducer works once for each forward pass. If that step is taken back, the reducer is made ready again for `backward()`.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch.autograd.graph import Node

from ..reading.hooks import dict_of, nothing, replaced, run_backward
from ..reading.nodes import is_accumulate, is_function, variable_of
from ..reading.shards import states_of, tensors_of

PATIENCE = 30.0  # seconds to wait for a missing rank
SILENCE = 3.0  # seconds before a waiting rank says so
PAUSE = 0.02  # seconds between two checks

_met: Counter[tuple[int, ...]] = Counter()  # by ranks: how often they have met


def is_distributed() -> bool:
    """Is this process a rank of a job?"""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def meet(ranks: Sequence[int], what: str, advice: str, patience: float | None = None) -> None:
    """Wait until all of these ranks of the job have come here, at most `patience` (or `PATIENCE`) seconds.

    `what` is about to run: "DistributedDataParallel averages gradients". `advice`: what else can be done.
    RuntimeError: some have not come in time; nothing has been sent.
    """
    group, patience = tuple(ranks), PATIENCE if patience is None else patience
    store, key = store_of_job(), f"autograd_viz/{'-'.join(map(str, group))}/{_met[group]}"
    store.set(f"{key}/{torch.distributed.get_rank()}", "")
    here, begin, is_told = store.add(key, 1), time.monotonic(), False
    if here == len(group):
        store.set(f"{key}/all", "")
    while not store.check([f"{key}/all"]):
        waited = time.monotonic() - begin
        if waited > patience and store.add(key, -1) < len(group) - 1:  # else the last one came at this moment
            missing = [str(r) for r in group if not store.check([f"{key}/{r}"])]
            absent = f"{len(missing)} of them did not come to this step in {patience:.0f} s: rank {', '.join(missing)}"
            said = absent if missing else f"the others had come before, and have left after {patience:.0f} s"
            raise RuntimeError(f"{what} over {len(group)} ranks, and {said}. Make the same call on every rank{advice}.")
        if waited > SILENCE and not is_told:
            is_told = True
            _tell(f"{what} over {len(group)} ranks: waiting for the others (Ctrl-C stops)")
        time.sleep(PAUSE)
        here = store.add(key, 0)
    _met[group] += 1


def store_of_job() -> Any:
    """The store that made the process group."""
    from torch.distributed.distributed_c10d import _get_default_store

    return _get_default_store()


@contextmanager
def slow_notice(what: str) -> Iterator[None]:
    """Inside, this rank may wait for another; if that takes long, it says so."""
    timer = threading.Timer(SILENCE, _tell, [f"{what}: waiting for the other ranks"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(text: str) -> None:
    print(f"autograd_viz, rank {torch.distributed.get_rank()}: {text}", file=sys.stderr, flush=True)


WHAT = "DistributedDataParallel averages gradients"
AGAIN = (
    "DistributedDataParallel(static_graph=True) averages once after each forward pass; the step that is taken back has "
    "done it: call the model anew before backward()"
)
ADVICE = ", or step this rank alone: make its loss inside of `with model.no_sync():`"


class Replica:
    """One DDP module that a pass from `root` leads to; a step that is taken back restores it."""

    def __init__(self, module: Any, nodes: list[Any], root: torch.Tensor) -> None:
        self.module, self.nodes, self.root = module, frozenset(nodes), root
        self.leaves = [p for p in module.parameters() if p.requires_grad]
        self.ranks = int(module.process_group.size())
        self._has_reduced = False

    def reduce(self, nodes: Iterable[Any], create_graph: bool) -> None:
        """Average the gradients over all ranks; `nodes`: AccumulateGrads in their order. RuntimeError: a rank is missing."""
        meet(torch.distributed.get_process_group_ranks(self.module.process_group), WHAT, ADVICE)
        self._has_reduced = True
        with slow_notice(WHAT), ExitStack() as stack:
            nodes = list(nodes)
            for node in nodes:
                stack.enter_context(replaced(_hooks(node), lambda *_: nothing))
            for node in nodes:
                run_backward([(node, 0)], [torch.zeros_like(variable_of(node)).neg()], create_graph)
            if self.module.reducer._rebuild_buckets():  # else the next forward pass does it; needed by restore
                self.module._has_rebuilt_buckets = True

    def restore(self) -> None:
        """Take the reduction back: the next ``backward()`` reduces."""
        if not self._has_reduced:
            return
        self._has_reduced = False
        if self.module.static_graph:  # the reducer counts its calls
            warnings.warn(AGAIN, stacklevel=2)
        else:
            self.module.reducer.prepare_for_backward([self.root] if self.module.find_unused_parameters else [])

    def holds(self) -> bool:
        """Yes: nobody else can change it."""
        return True


def replicas_of(nodes: Iterable[Any], root: torch.Tensor) -> list[Replica]:
    """The DDP modules whose reducers wait for a pass through these nodes."""
    if not is_distributed():
        return []
    from torch.nn.parallel import DistributedDataParallel

    owners = {leaf: n for n in nodes if is_accumulate(n) and (leaf := variable_of(n)) is not None}
    found = []
    for module in gc.get_referrers(DistributedDataParallel):
        if isinstance(module, DistributedDataParallel) and module.require_forward_param_sync:  # not inside no_sync()
            own = [owners[p] for p in module.parameters() if p in owners]
            found += [Replica(module, own, root)] if own else []
    return found


def _hooks(node: Node) -> list[tuple[int, dict[Any, Any]]]:
    """The user's hooks on a gradient that goes into a leaf: they have run already."""
    leaf = variable_of(node)
    of_leaf = (leaf._backward_hooks, leaf._post_accumulate_grad_hooks)
    of_node = (dict_of(node.register_prehook), dict_of(node.register_hook))
    return [(0, hooks) for hooks in (*of_leaf, *of_node) if hooks]


FSDP = "FSDP gathers parameters and scatters gradients"
DELAYED = "_static_graph_delay_allreduce_enqueued"
OWN = "these gradients are from this rank only: DistributedDataParallel has not averaged them over {ranks} ranks"


class Exchange:
    """What one pass exchanges."""

    def __init__(self, nodes: Iterable[Any], root: torch.Tensor) -> None:
        self.nodes = frozenset(nodes)
        self.replicas = replicas_of(self.nodes, root)  # the DDP modules whose gradients it averages
        self.is_apart = False  # the pass will be taken back, so nothing is averaged
        self.what = _communicates(self.nodes) if is_distributed() else ""  # in the graph itself, for an error
        self._states = states_of(self.nodes) if self.what else []
        self._have_met = False

    @property
    def is_there(self) -> bool:
        """Does the pass exchange anything?"""
        return bool(self.replicas or self.what)

    @property
    def by_hand(self) -> frozenset[Any]:
        """The AccumulateGrads that PyTorch's engine must not call."""
        return frozenset().union(*(r.nodes for r in self.replicas))

    @property
    def own_ranks(self) -> int:
        """Over how many ranks the gradients should be averaged, and are not; 0 if none."""
        return max((r.ranks for r in self.replicas if r.ranks > 1), default=0) if self.is_apart else 0

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Inside, nothing is averaged: steps are taken back at the end."""
        self.is_apart = bool(self.replicas)
        if self.own_ranks:
            warnings.warn(OWN.format(ranks=self.own_ranks), stacklevel=2)
        flags = self._delayed()
        try:
            for flag in flags:
                setattr(flag.owner, DELAYED, True)  # then it asks for no reduction at the end of the pass
            yield
        finally:
            self.is_apart = False
            for flag in flags:
                flag.restore()

    def finished(self, node: object, done: Iterable[Any]) -> list[Replica]:
        """The replicas that are complete with this node: it is the last of their AccumulateGrads."""
        mine = [r for r in self.replicas if node in r.nodes and not self.is_apart]
        ran = {*done, node} if mine else set()
        return [r for r in mine if r.nodes <= ran]

    def touched(self, node: object, done: Iterable[Any], is_last: bool) -> list[Any]:
        """The tensors, besides its own, whose grad a call of the node changes because of other ranks."""
        replicas = self.replicas if is_last and not self.is_apart else self.finished(node, done)
        found = [leaf for r in replicas for leaf in r.leaves]
        if is_last:
            return found + tensors_of(g for s in self._states for g in s._fsdp_param_groups)
        group = getattr(node, "param_group", None) if self._states else None  # of a module whose backward has ended
        return found if group is None else found + tensors_of([group])

    def snapshots(self, node: Node, done: Iterable[Any]) -> list[Any]:
        """What else a call of the node changes, because of other ranks."""
        flags = [_Flag(s._state_ctx, "post_backward_final_callback_queued") for s in self._states]
        return [*flags, *self._delayed(), *self.finished(node, done)]

    def _delayed(self) -> list[_Flag]:
        """For each DDP module with a static graph: does its first reduction already wait for the end of the pass?"""
        return [_Flag(r.module, DELAYED) for r in self.replicas if hasattr(r.module, DELAYED)]

    def around(self) -> AbstractContextManager[None]:
        """A step runs inside. The first step waits for all ranks. RuntimeError: a rank is missing."""
        if not self.what:
            return nullcontext()
        if not self._have_met:
            meet(range(torch.distributed.get_world_size()), self.what, "")
            self._have_met = True
        return slow_notice(self.what)


class _Flag:
    """An attribute as it was at one moment."""

    def __init__(self, owner: object, name: str) -> None:
        self.owner, self.name, self.value = owner, name, getattr(owner, name)

    def restore(self) -> None:
        setattr(self.owner, self.name, self.value)

    def holds(self) -> bool:
        return bool(getattr(self.owner, self.name) == self.value)


def _communicates(nodes: Iterable[Any]) -> str:
    """Which of these nodes communicate with other ranks, in words; "" if none does."""
    for node in nodes:
        forward = getattr(type(node), "_forward_cls", None) if is_function(node) else None
        module, name = (forward.__module__, forward.__name__) if forward is not None else ("", "")
        if name == "RegisterPostBackwardFunction":
            return FSDP
        if (module.startswith("torch.distributed") and name != "_DDPSink") or name == "SyncBatchNorm" or "c10d" in node.name():
            return f"{name or node.name()} communicates"
    kinds = {type(variable_of(n)).__name__ for n in nodes if is_accumulate(n)}
    return FSDP if "FlatParameter" in kinds or states_of(nodes) else "DTensor communicates" if "DTensor" in kinds else ""
