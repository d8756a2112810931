"""All checks, in the order in which they are asked: first what was seen to happen, the nearest on the path first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from ..causes.cause import Cause, cause_of
from ..causes.check import SO, Check, check
from ..causes.question import Question
from . import (
    aim,
    bad_numbers,
    classes,
    data,
    derived,
    layers,
    loop,
    loss,
    memory,
    path,
    players,
    sequences,
    signs,
    sizes,
    terms,
    updates,
    zeros,
)
from .hooks import hook_causes
from .missing import missing
from .present import last_write, lost_part, old, plain_gradient

UNKNOWN = ("not_recorded", "zero_old", "bad_elsewhere")  # the graph at hand does not say
NONE, BAD, ZERO, OTHER = ("none",), ("nan", "inf"), ("zero",), ("huge", "tiny", "")  # what a grad contains
GIVEN = (*BAD, *ZERO, *OTHER)


class Turn(NamedTuple):
    """What is asked (a check, or what finds causes and accuses nobody), of which grads, and what it means to the next."""

    ask: Callable[[Question], list[Cause]] | Check  # finds causes
    states: tuple[str, ...]  # what the grad contains, when it is asked
    is_last: bool = False  # if it has something to say, nothing else is asked
    is_alone: bool = False  # it is asked only if nothing was found before


def _shards(q: Question) -> list[Cause]:
    ranks = q.history.shards(q.tensor)
    return [cause_of("sharded_missing" if q.grad is None else "sharded", ranks=ranks)] if ranks else []


def _off(q: Question) -> list[Cause]:
    off = [] if q.tensor.requires_grad else q.events("switched_off")
    return [cause_of("off_now", off[-1])] if off else []


def _zeroed_or_old(q: Question) -> list[Cause]:
    written = [c for c in last_write(q) if c.kind == "grad_zeroed" or (c.kind == "grad_written" and "mul" in f"{c.said['by']}")]
    return [*(written if q.state == "zero" else []), *old(q)]


def _of_numbers(q: Question) -> list[Cause]:
    f = q.numbers
    hooked = [] if f is None or q.is_thorough else hook_causes(f)
    return zeros.all_zero.ask(q) or [*sizes.gradient_size.ask(q), *hooked]


def _piled_hooks(q: Question) -> list[Cause]:
    return [] if q.numbers is None else [c for c in sizes.gradient_size.ask(q) if c.kind == "resized_by_hooks"]


def _bad_loss(q: Question) -> list[Cause]:
    return [] if q.numbers is None else bad_numbers.bad_loss(q)


PAGES = (
    loss.squashed_twice, loss.softmax_over_batch, aim.trained_target, signs.wrong_sign,
    aim.out_of_reach, aim.padding_counted, aim.padding_is_item, signs.exchanged, data.not_signs,
    data.whole_numbers_lost, terms.other_action, terms.sum_beside_mean, terms.margin_inside_out, terms.log_of_spread,
    classes.class_left_out, classes.weights_of_counts, classes.temperature_multiplied, classes.own_similarity,
    classes.norms_of_columns, sequences.sees_target, sequences.last_step, data.other_noise, players.same_aim,
    data.shuffled_apart, sequences.rows_mixed, sequences.other_order, sequences.batch_not_first, layers.saturated,
    layers.evaluating, layers.dropout_off, layers.same_again, layers.dropout_strong, layers.no_activation, layers.flat_twice,
    path.skip_written, zeros.norm_of_one, updates.copied_onto_itself, updates.follows_at_once, updates.seeded_in_loop,
    updates.tie_lost, path.lost_term, sequences.mask_inverted, sequences.positions_of_batch, signs.overlap_of_logits,
    terms.penalty_of_batch, derived.reduced_too_early, derived.same_derivative,
)  # fmt: skip

TURNS = (
    Turn(_shards, (*NONE, *GIVEN), is_last=True),
    Turn(loop.cleared_before_step, NONE),
    Turn(path.detached, NONE),
    Turn(path.unused, NONE),
    Turn(loop.never_stepped, NONE),
    Turn(lambda q: q.once(missing), NONE),
    Turn(loop.moved_anyway, GIVEN, is_last=True),
    Turn(_off, GIVEN, is_last=True),
    Turn(_zeroed_or_old, (*BAD, *ZERO), is_last=True),
    Turn(bad_numbers.not_finite, BAD),
    Turn(loop.outgrown, (*BAD, "huge")),
    Turn(path.skip_written, ZERO, is_last=True),
    Turn(layers.norm_of_zeros, ZERO, is_last=True),
    Turn(zeros.norm_of_one, ZERO),
    Turn(layers.equal_units, (*ZERO, *OTHER)),
    Turn(zeros.all_zero, ZERO, is_alone=True),
    Turn(old, OTHER),
    Turn(loop.not_held, (*ZERO, *OTHER)),
    Turn(loop.step_order, GIVEN),
    Turn(loop.clip_before_unscale, OTHER, is_last=True),
    Turn(path.written_as_data, OTHER, is_last=True),
    Turn(updates.cleared_between, (*ZERO, *OTHER)),
    Turn(updates.undone, (*ZERO, *OTHER), is_last=True),
    Turn(updates.pruned_moves, OTHER),
    Turn(updates.made_anew, (*ZERO, *OTHER)),
    Turn(loop.clip_in_vain, OTHER),
    Turn(last_write, OTHER),
    Turn(loop.accumulated, OTHER),
    Turn(loop.never_stepped, OTHER),
    Turn(loop.step_too_small, (*ZERO, *OTHER)),
    Turn(loop.rounded_away, OTHER),
    Turn(layers.one_sided_hook, (*ZERO, *OTHER), is_last=True),
    Turn(updates.decayed_away, (*ZERO, *OTHER)),
    Turn(lost_part, OTHER),
    Turn(_piled_hooks, OTHER, is_last=True),
    Turn(loss.broadcast_in_loss, OTHER),
    Turn(layers.wrong_backward, OTHER, is_last=True),
    Turn(loop.step_too_large, OTHER),
    Turn(_bad_loss, (*ZERO, *OTHER), is_last=True),
    Turn(signs.no_bottom, OTHER),
    Turn(_of_numbers, OTHER),
    *(Turn(page, OTHER, is_alone=True) for page in PAGES),
    Turn(plain_gradient, OTHER, is_alone=True),
)


def causes_of(q: Question) -> list[Cause]:
    """Why the tensor's grad is what it is. The nearest cause comes first."""
    found: list[Cause] = []
    is_unread = q.grad is not None and getattr(q.tensor, "is_meta", False)  # it has a shape, and no numbers
    for turn in TURNS[-1:] if is_unread else TURNS:
        is_once = q.is_thorough and (turn.ask is plain_gradient or (isinstance(turn.ask, Check) and turn.ask.of_run))
        if q.state in turn.states and not (turn.is_alone and found) and not is_once:
            new = turn.ask.ask(q) if isinstance(turn.ask, Check) else turn.ask(q)
            found += [c for c in new if c not in found]
            if new and turn.is_last:
                break
    return [_unknown(q) if c.kind == "not_recorded" else c for c in _or_gone(q, found) or [Cause("not_recorded")]]


def _or_gone(q: Question, found: list[Cause]) -> list[Cause]:
    """What was found. If that is nothing, and no graph that is left leads to the tensor: that the root of the pass is gone."""
    is_known = any(c.kind not in (*UNKNOWN, "fine", "fine_paths", "fine_unseen") for c in found)
    if q.state == "none" or q.last is None or q.last.root is not None or is_known or q.facts.is_connected:
        return found
    return [cause_of(q.history.unknown_root, q.last)]


def _unknown(q: Question) -> Cause:
    """Why nothing is known: the ops were recorded, and do not show it; or their graph is gone; or nobody has recorded them."""
    if not (q.history.is_recorded or q.facts.loss):
        return Cause("no_loss_here")
    return Cause("not_shown" if q.history.is_recorded or q.facts.is_recorded else "not_recorded")


ERRORS = (
    "modified*", "twice*", "root_frozen", "root_of_data", "root_of_leaf", "root_of_leaves", "root_of_numbers", "root_unseen",
    "cut_*", "optimizer_not_leaf", "wanted_not_asked", "error",
)  # fmt: skip


@check("AV901", "raised", dict.fromkeys(ERRORS, SO))
def raised() -> Iterator[Cause]:
    """The program raised an error of autograd, and what was seen tells where it comes from."""
    yield from ()  # it is asked with the error: `causes_of_error`


AREAS = (
    bad_numbers, zeros, sizes, aim, classes, data, derived, layers, loop, loss, memory, path, players, sequences, signs, terms,
    updates,
)  # fmt: skip
ALL = [raised, *(c for area in AREAS for c in vars(area).values() if isinstance(c, Check))]
BY_CODE = {c.code: c for c in sorted(ALL, key=lambda c: c.code)}


@cache
def page_of(kind: str) -> tuple[Check, str] | None:
    """The check that finds a kind of cause, and how certain it is; None for a kind that only answers."""
    found = [(page, pattern) for page in BY_CODE.values() for pattern in page.kinds if fnmatchcase(kind, pattern)]
    best = max(found, key=lambda f: (f[1] == kind, len(f[1])), default=None)
    return None if best is None else (best[0], best[0].kinds[best[1]])
