"""Parameters whose gradient is zero by the shape of the model: what follows takes away whatever they add."""

from __future__ import annotations

from .cause import Cause
from .facts import Edge, Facts
from .numbers import norm

ROUNDING = 1e-3  # of the norm of another gradient at the same node: what is smaller is rounding
BIASES = (("Addmm", 0), ("Convolution", 2), ("Add", 0), ("Add", 1))  # where an op takes a bias, and as which input
ROUTES = (
    "View", "UnsafeView", "ReshapeAlias", "Reshape", "Transpose", "T", "Permute", "Unsqueeze", "Squeeze", "Clone", "Split",
    "Select", "Chunk", "Unbind", "Slice", "Alias",
)  # fmt: skip
NORMS = ("NativeBatchNorm", "CudnnBatchNorm", "MiopenBatchNorm")
ATTENTION = "ScaledDotProduct"
KEY = 1  # of the inputs of attention


def settled_cause(f: Facts) -> Cause | None:
    """The subject is a bias that a batch norm, or the softmax of attention, takes away again; None if it is none."""
    senders = f.senders.get(f.edge, []) if f.edge is not None else []
    if len(senders) != 1 or not _is_bias(f, *senders[0]) or not _is_rounding(f, senders[0][0]):
        return None
    taker = _taker(f, senders[0][0])
    if taker is None:
        return None
    node, i = taker
    kind = "zero_shifted" if f.called(node).startswith(ATTENTION) else "zero_normed"
    is_met = i == KEY if kind == "zero_shifted" else f.plain(node, "training") == "True"
    return Cause(kind, (f.subject.id,), (node,), f.source(node), {"node": f.called(node)}) if is_met else None


def _is_bias(f: Facts, node: str, i: int) -> bool:
    name = f.called(node)
    return len(f.subject.value.shape) == 1 and any(name.startswith(f"{op}Backward") and i == at for op, at in BIASES)


def _is_rounding(f: Facts, node: str) -> bool:
    """Its gradient is nothing beside those of the other tensors of its op."""
    own = norm(f.subject.grad) or 0.0
    edges = {(after.node, after.index) for after in f.nodes[node].next_functions if after.node is not None}
    behind = [*edges, *((a.node, a.index) for n, _ in edges for a in f.nodes[n].next_functions if a.node is not None)]
    leaves = [f.tensors[v] for n, _ in behind if (v := f.nodes[n].variable) is not None and v != f.subject.id]
    sizes = [s for t in leaves if (s := norm(t.grad))]
    return bool(sizes) and own < ROUNDING * max(sizes)


def _taker(f: Facts, node: str) -> Edge | None:
    """The first node behind views of the op's result that is none itself, and by which input it takes that."""
    seen = {node}
    while True:
        senders = [s for k in range(f.nodes[node].outputs) for s in f.senders.get((node, k), ())]
        if len(senders) != 1 or senders[0][0] in seen:
            return None
        node, i = senders[0]
        seen.add(node)
        if f.called(node).startswith((*NORMS, ATTENTION)):
            return node, i
        if not f.called(node).startswith(ROUTES):
            return None
