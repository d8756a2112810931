"""Checks of the numbers of a pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..causes.bad_numbers import bad_causes
from ..causes.cause import Cause
from ..causes.facts import Facts
from ..causes.ops import cause_at, op_of
from ..causes.sizes import no_effect, size_causes
from ..causes.zeros import zero_causes
from .check import ASKED, MAY, SO, check

NOT_FINITE_KINDS = ("born_*", "forward_*", "given*", "diverged", "nan_of_inf", "inf_to_nan", "zero_times_inf", "loss_bad*")
NO_FAULT = (  # sums that cancel, zeros up to rounding, and what happened after the pass
    "zero_sent", "zero_factor", "zero_cancel", "zero_broadcast", "zero_normed", "zero_shifted", "rows_unused", "zero_old",
    "zero_since", "zeroed*", "graph_gone",
)  # fmt: skip


@check("AV301", "not-finite", {**dict.fromkeys(NOT_FINITE_KINDS, SO), "bad_*": MAY, "changed_since": ASKED})
def not_finite(numbers: Facts) -> list[Cause]:
    """nan or inf in a gradient: the op that made it, forward or backward."""
    return bad_causes(numbers)


@check("AV302", "all-zero", {**dict.fromkeys(NO_FAULT, ASKED), "zero_single": SO, "zero_*": MAY, "cancelled": MAY})
def all_zero(numbers: Facts) -> list[Cause]:
    """A gradient that is all zero: the op that passed none on, or a sum that cancels."""
    return no_effect(numbers) or zero_causes(numbers)


@check("AV304", "vanishing-or-exploding", {"shrank_*": MAY, "grew_*": MAY, "shrank": ASKED, "grew": ASKED})
def gradient_size(numbers: Facts) -> list[Cause]:
    """A gradient that shrinks or grows on its way from the loss, so that it is tiny or huge here."""
    return size_causes(numbers)


@check("AV303", "norm-of-one", {"norm_of_one": SO})
def norm_of_one(numbers: Facts, ways: Iterable[str]) -> Iterator[Cause]:
    """A layer norm over one element: it is its own mean, so the result is the bias whatever the input is."""
    for node in ways:
        if op_of(numbers, node) == "NativeLayerNorm" and numbers.plain(node, "normalized_shape") in ("(1,)", "[1]", "1"):
            yield cause_at(numbers, "norm_of_one", node)
