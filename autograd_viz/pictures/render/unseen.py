"""Why a recording could not follow an op, in words."""

from __future__ import annotations

from ... import words
from ...graph.model import Op


def why_unseen(op: Op | None) -> str:
    """A sentence; empty for an op that was recorded, or that ran without a recording."""
    said = {
        "nested": words.REASON_NESTED,
        "compiled": words.REASON_COMPILED,
        "cached": words.REASON_CACHED,
        "opened": words.REASON_OPENED,
        "exported": words.REASON_EXPORTED,
    }
    if op is not None and op.graph_break:
        return words.GRAPH_BREAK.format(reason=op.graph_break)
    return "" if op is None else said.get(op.reason, "")
