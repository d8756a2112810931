"""Checks of what attention is given: a mask that hides what it should show, positions that count the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..causes.cause import Cause
from ..causes.check import MAY, check
from ..causes.code import called_at, expression_at
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.question import Question

SOFTMAX, MASKS = ("Softmax", "SafeSoftmax"), ("attn_mask", "attn_bias")
DROPPED, TURNED = ("Mul", "NativeDropout", "NativeLayerNorm"), ("transpose", "permute", "swapaxes", "movedim")
OWNERS = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")
FEW = 3  # ops between a sum and what takes it


@check("AV229", "mask-inverted", {"mask_inverted": MAY}, of_run=True, first=True)
def mask_inverted(f: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A mask of attention that hides the real tokens of each row, and leaves its padding."""
    nodes = [*ways]
    tables = [n for n in nodes if op_of(f, n) == "Embedding" and int(f.plain(n, "padding_idx") or -1) >= 0]
    for node in nodes if tables else ():
        weights = _weights(f, node)
        behind = f.downstream([node]) if weights is not None else {}
        for table in (t for t in tables if t in behind):
            tokens = f.live.kept(table, "indices")
            if tokens is not None and _shows_padding(weights, tokens != int(f.plain(table, "padding_idx"))):
                yield cause_at(f, "mask_inverted", node, op="attention")


def _weights(f: Facts, node: str) -> Any:
    """What attention gives to each key, or by which its mask multiplies that; None if the node is none, or has no mask."""
    op = op_of(f, node)
    if op in SOFTMAX:
        return f.live.kept(node, "result")
    kept = (f.live.kept(node, name) for name in MASKS if op.startswith("ScaledDotProduct"))
    mask = next((m for m in kept if m is not None), None)
    return mask if mask is None or mask.dtype == bool else np.exp(mask.astype(float))


def _shows_padding(weights: Any, real: Any) -> bool:
    """Of the rows that have both: are all weights of real tokens 0, and some of the padding not?"""
    if real.ndim != 2 or weights.ndim < 3 or weights.shape[-1] != real.shape[1] or weights.size % (real.size or 1):
        return False
    rows = weights.reshape(len(real), -1, real.shape[1])
    mixed = real.any(1) & ~real.all(1)
    is_hidden = (rows * real[:, None]).max(1).max(1) == 0
    is_shown = (rows * ~real[:, None]).max(1).max(1) > 0
    return bool(mixed.any()) and bool((is_hidden & is_shown)[mixed].all())


@check("AV230", "positions-of-batch", {"positions_of_batch": MAY}, of_run=True, first=True)
def positions_of_batch(f: Facts, ways: Iterable[str], q: Question) -> Iterator[Cause]:
    """Positions that are cut to the size of dimension 0, which is the batch for attention with batch_first=True."""
    layers = [p for m in q.models.values() for p in m.modules() if type(p).__name__ in OWNERS]
    if not all(getattr(getattr(p, "self_attn", p), "batch_first", False) for p in layers):
        return
    for node in ways:
        shape = next((t.value.shape for t in f.results(node)), (0, 0, 0)) if op_of(f, node) == "Add" else ()
        if len(shape) == 3 and _is_cut_to_batch(expression_at(f.source(node))) and _turns(f, node) == {False}:
            yield cause_at(f, "positions_of_batch", node)


def _is_cut_to_batch(found: ast.expr | None) -> bool:
    """Is it `x + pe[:x.size(0)]`, or with `x.shape[0]` or `len(x)`?"""
    cut = found.right if isinstance(found, ast.BinOp) and isinstance(found.op, ast.Add) else None
    if not isinstance(found, ast.BinOp) or not isinstance(cut, ast.Subscript):
        return False
    first = cut.slice.elts[0] if isinstance(cut.slice, ast.Tuple) and cut.slice.elts else cut.slice
    upper = first.upper if isinstance(first, ast.Slice) and first.lower is None else None
    x = ast.unparse(found.left)
    return upper is not None and ast.unparse(upper) in (f"{x}.size(0)", f"{x}.shape[0]", f"len({x})", f"{x}.size(dim=0)")


def _turns(f: Facts, node: str) -> set[bool]:
    """Are its first two dimensions exchanged before attention: by the program (True), or by a layer with batch_first?"""
    found = set[bool]()
    for _ in range(FEW):
        users = f.takers(node)
        found |= {called_at(f.source(u)) in TURNED for u in users if op_of(f, u) in ("Transpose", "Permute")}
        node = next((u for u in users if op_of(f, u) in DROPPED), "")
        if not node:
            break
    return found
