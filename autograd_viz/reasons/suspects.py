"""Which ops can have made nan or inf: named with their conditions where the numbers were not kept, and none left out."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import words
from .backward_lines import is_given_gradient
from .facts import Facts
from .hazards import Hazard, hazard_of, operand, value_with
from .hook_lines import hooks_in_code
from .numbers import bounds, has_zero, is_known, number
from .rules import BOUNDED, CHOOSING, LOSSES, NORMS, PRODUCTS, TWICE, WRITING, is_linear, stem_of
from .since import changed_since
from .text import place_text

BAD = ("nan", "inf")
ONLY_NAN = ("Softmax", "LogSoftmax", "Sqrt", "Std", "Var", "StdMean", "VarMean", "Asin", "Acos", "Acosh")  # never inf, as ops
OTHERWISE = ("Log", "Log2", "Log10", "Sqrt", "Log1P")  # ops that are undefined elsewhere than their derivatives
SHIFTED = "Log1P"  # undefined at -1, and not at 0 as other logarithms
AVERAGES = {"Mean", *LOSSES}
NEVER_MADE = BOUNDED | CHOOSING | LOSSES  # of finite numbers
FINITE = ("born_norm", "born_equal")  # hazards of the derivative alone
LEAST = {"Log": 0.0, "Log2": 0.0, "Log10": 0.0, "Rsqrt": 0.0, "Log1P": -1.0}  # above it all is finite
FACTORS = {  # places of the operands that are multiplied
    "Mul": (0, 1), "Mm": (0, 1), "Bmm": (0, 1), "Mv": (0, 1), "Dot": (0, 1), "Addmm": (1, 2), "Addmv": (1, 2),
    "Baddbmm": (1, 2),
}  # fmt: skip
SAVED = (("self", "mat1", "batch1"), ("other", "mat2", "vec", "tensor", "batch2"))  # the names under which they are saved
MOST_LINES = 3  # that are named for ops of a name
HAZARD, PUT, FACTOR, OTHER = range(4)  # the order in which they are told
Told = tuple[int, str]  # its place in the order, and the condition


def listed(f: Facts, found: Iterable[tuple[str, str]]) -> str:
    """Nodes with the same condition are told together: `MmBackward0, MulBackward0 (if …); ReluBackward0 in line 3 (where …)`.

    Args:
        f: the facts.
        found: ids of nodes, each with the condition.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for node, when in found:
        groups.setdefault(when, {}).setdefault(f.called(node), []).append(node)
    return words.SEMICOLON.join(_group(f, when, named) for when, named in groups.items())


def _group(f: Facts, when: str, named: dict[str, list[str]]) -> str:
    joined = words.COMMA.join(_placed(f, name, nodes) for name, nodes in named.items())
    return words.CAN.format(node=joined, when=when) if when else joined


def _placed(f: Facts, name: str, nodes: list[str]) -> str:
    """The name of nodes, with their lines if all are known, few, and in the file of the question."""
    sources, file = [f.source(n) for n in nodes], "" if f.here is None else f.here.file
    lines = sorted({s.line for s in sources if s is not None and s.file == file})
    is_known = all(s is not None and s.file == file for s in sources) and len(lines) <= MOST_LINES
    return words.NODE_IN_LINES.format(node=name, lines=words.COMMA.join(map(str, lines))) if is_known else name


def suspects(f: Facts, nodes: list[str]) -> str:
    """The nodes whose rules can make nan or inf of a gradient without, and hooks; "" if there are none."""
    told = [(n, t) for n in nodes if (t := _rule_can(f, n, nodes)) is not None]
    hooked = [(n, hooks) for n in nodes if (hooks := f.live.hooks(n))]
    beside = [words.SUSPECT_HOOK.format(hook=words.COMMA.join(hooks), node=f.called(n)) for n, hooks in hooked]
    beside += [] if hooked else suspected_hooks(f)
    beside += [words.SUSPECT_GRADIENT] if is_given_gradient(f.here) and not f.live.passes() else []
    return words.SEMICOLON.join([*dict.fromkeys(beside), *([_in_order(f, told)] if told else [])])


def suspected_hooks(f: Facts) -> list[str]:
    """The hooks that the code registers, by their lines."""
    return [words.SUSPECT_HOOK_AT.format(line=place_text(source)) for source in hooks_in_code(f)]


def forward_suspects(f: Facts, what: str) -> str:
    """The nodes on the way whose ops can make it ("nan" or "inf") of finite numbers; "" if there are none."""
    return _in_order(f, [(n, t) for n in f.passed if (t := _op_can(f, n, what)) is not None])


def _in_order(f: Facts, told: list[tuple[str, Told]]) -> str:
    return listed(f, ((n, when) for n, (_, when) in sorted(told, key=lambda t: t[1][0])))


def has_maker(f: Facts, what: str) -> bool:
    """An op on the way is known to make it where it is undefined, and not known not to have."""
    return any((t := _op_can(f, n, what)) is not None and _is_maker(f, n, t, what) for n in f.passed)


def _is_maker(f: Facts, node: str, told: Told, what: str) -> bool:
    return told[0] == HAZARD or (what == "nan" and told[0] == FACTOR and _can_multiply(f, node))


# -- the backward pass ------------------------------------------------------------------------------------------------


def _rule_can(f: Facts, node: str, nodes: list[str]) -> Told | None:
    """When the node's rule makes nan or inf of a gradient without; None if it does not."""
    name, hazard = stem_of(f, node), hazard_of(f, node)
    if is_linear(f, node) or name in CHOOSING:
        return None
    if hazard is not None and (hazard.holds(f, node) is not False or _is_late(f, node)):
        return HAZARD, _when_born(hazard, name)
    if name in PRODUCTS:
        return (FACTOR, words.CAN_BAD_FACTOR) if _may_meet_factor(f, node, nodes) else None
    if name in NORMS:
        return OTHER, words.CAN_BAD_NORM
    if hazard is not None or name in BOUNDED or name in LOSSES or name.endswith(TWICE):
        return (OTHER, words.CAN_BAD_GIVEN) if not _is_given_finite(f, node) else None
    return OTHER, words.CAN_STRANGE


def _is_late(f: Facts, node: str) -> bool:
    """The leaf that the node was given holds nan now, or has been changed since: nobody knows what it held."""
    given = f.inputs(node)[:1]
    return any(t.id not in f.makers and (value_with(t.value, BAD) is not None or changed_since(f, t.id)) for t in given)


def _is_given_finite(f: Facts, node: str) -> bool:
    """All that the op was given is known, and finite."""
    op = f.op(node)
    is_open = op is None or any(o.tensor is None and number(o.text) is None for o in op.inputs)
    is_late = any(t.id not in f.makers and changed_since(f, t.id) for t in f.inputs(node))
    return not is_open and not is_late and all(is_known(t.value) and value_with(t.value, BAD) is None for t in f.inputs(node))


def _may_meet_factor(f: Facts, node: str, nodes: list[str]) -> bool:
    """A gradient on the way is multiplied by a factor there that is not known to be finite."""
    places = FACTORS.get(stem_of(f, node))
    if places is None:
        return not _is_given_finite(f, node)
    ways = {*nodes, f.edge[0]} if f.edge is not None else {*nodes}
    taken = [i for i, after in enumerate(f.nodes[node].next_functions) if after.node in ways]
    others = [1 - places.index(i) for i in taken if i in places]
    return not all(_is_finite_factor(f, node, places[k], SAVED[k]) for k in others)


def _is_finite_factor(f: Facts, node: str, index: int, saved: tuple[str, ...]) -> bool:
    op = f.op(node)
    written = number(op.inputs[index].text) if op is not None and index < len(op.inputs) else None
    value = operand(f, node, index, saved)
    return math.isfinite(written) if written is not None else value is not None and value_with(value, BAD) is None


# -- the forward pass -------------------------------------------------------------------------------------------------


def _op_can(f: Facts, node: str, what: str) -> Told | None:
    """When the node's op makes it of finite numbers; None if it does not, or is known not to have."""
    name, hazard, result = stem_of(f, node), hazard_of(f, node), f.result(node)
    if (result is not None and is_known(result) and value_with(result, BAD) is None) or f.op(node) is None:
        return None
    if hazard is not None:
        is_never = (what == "inf" and name in ONLY_NAN) or _is_safe(f, node, hazard)
        return None if is_never else (HAZARD, _when_made(hazard, name))
    if name in AVERAGES and is_empty(f, node):
        return HAZARD, words.CAN_MADE_EMPTY
    if name in WRITING:
        return PUT, words.CAN_MADE_PUT
    return None if is_linear(f, node) or name in NEVER_MADE else _otherwise_made(name)


def _otherwise_made(name: str) -> Told:
    if name in PRODUCTS:
        return FACTOR, words.CAN_MADE_PRODUCT
    return OTHER, words.CAN_MADE_NORM if name in NORMS else words.CAN_STRANGE


def _when_born(hazard: Hazard, name: str) -> str:
    """When the rule makes it."""
    return words.CAN_BORN_SHIFTED if name == SHIFTED else str(getattr(words, f"CAN_{hazard.kind.upper()}"))


def _when_made(hazard: Hazard, name: str) -> str:
    """When the op makes it."""
    if name not in OTHERWISE:
        return _when_born(hazard, name)
    return words.CAN_MADE_SHIFTED if name == SHIFTED else str(getattr(words, f"CAN_MADE_{hazard.kind.upper()}"))


def _is_safe(f: Facts, node: str, hazard: Hazard) -> bool:
    """The op is finite wherever it is defined (not so its derivative), or is known to have been given what it is finite at."""
    if hazard.kind in FINITE:
        return True
    least, found = LEAST.get(stem_of(f, node)), None if _is_late(f, node) else bounds(f.input(node))
    if least is not None and found is not None:
        return found[0] > least
    return least is None and hazard.holds(f, node) is False and not _is_late(f, node)


def _can_multiply(f: Facts, node: str) -> bool:
    """A factor may be inf, and the other may have a zero: 0 times inf is nan."""
    factors = [v for i in (0, 1) if is_known(v := f.input(node, i))]
    finite = [v for v in factors if not value_with(v, ("inf",))]
    is_safe = stem_of(f, node) == "Mul" and any(not has_zero(v) for v in finite)
    return len(finite) < 2 and not is_safe


def is_empty(f: Facts, node: str) -> bool:
    """The op was given a tensor without elements: the mean of nothing is nan."""
    return any(math.prod(t.value.shape) == 0 for t in f.inputs(node)[:1])
