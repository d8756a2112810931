"""A rule's text with other names in it, and the form that it has: two arrays with a sign between them, or another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from ...graph.trace import Term

_TOKEN = re.compile(r"[^\W\d]\w*(?:\[\d+\])?ᵀ?|[\d.]+(?:e[+-]?\d+)?\w*|\*\*|\s+|.", re.DOTALL)
_TRANSPOSED = re.compile(r"\b(?:t|mT)\(([^\W\d]\w*)\)")
_NAME = r"([^\W\d]\w*?(?:\[\d+\])?)(ᵀ?)"
_ONE, _TWO = re.compile(rf"{_NAME}|(?:expand|sum_to)\({_NAME}, \([\d, ]*\)\)"), re.compile(rf"{_NAME} ([-+*/@]) {_NAME}")
_OUTER = re.compile(rf"ger\({_NAME}, {_NAME}\)")
# functions that take one element of each argument
_EXPONENTIAL, _ROUND = {"exp", "exp2", "log", "log1p", "sigmoid", "sqrt", "ndtr", "bell"}, {"sin", "cos", "sinh", "cosh"}
_CHOOSING = {"abs", "sgn", "sign", "eq", "ne", "logical_and", "logical_or", "where", "zeros_like", "expand"}
_POINTWISE = _EXPONENTIAL | _ROUND | _CHOOSING
SIGNS = {"*": "×", "@": "·"}  # other signs stay


class Operand(NamedTuple):
    """What a name in a rule stands for.

    Attributes:
        text: the user's name for it.
        at: where its value is, as in `Term`.
        is_phrase: the text has words, so it needs brackets beside a sign.
    """

    text: str
    at: str
    is_phrase: bool = False


Known = Mapping[str, Operand]  # by name in the rule; a name that is not known stays


def rewritten(rule: str, known: Known) -> str:
    """The rule in other names and signs: `grad * other` as `(gradient of c) × b`."""
    tokens = _TOKEN.findall(_TRANSPOSED.sub(r"\1ᵀ", rule))
    return "".join(_written(tokens, i, known) for i in range(len(tokens)))


def _written(tokens: list[str], i: int, known: Known) -> str:
    token = tokens[i]
    before, after = (next((t for t in side if not t.isspace()), "") for side in (reversed(tokens[:i]), tokens[i + 1 :]))
    if token in SIGNS and tokens[i - 1 : i + 2] == [" ", token, " "]:
        return SIGNS[token]
    name = token.removesuffix("ᵀ")
    if name not in known or after in ("(", "=") or before == ".":
        return token
    text, is_alone = known[name].text, before in ("", "(", ",", "[") and after in ("", ")", ",", "]") and name == token
    return (f"({text})" if known[name].is_phrase and not is_alone else text) + "ᵀ" * (name != token)


def terms_of(rule: str, known: Known) -> tuple[tuple[Term, ...], str]:
    """The arrays in a rule, and its sign, as in `NamedRule`. No arrays if one of two is not known."""
    rule = _TRANSPOSED.sub(r"\1ᵀ", rule)
    if found := _TWO.fullmatch(rule):
        first, first_turned, sign, second, second_turned = found.groups()
        if first in known and second in known:
            return (_term(first, first_turned, known), _term(second, second_turned, known)), SIGNS.get(sign, sign)
        return (), ""
    if found := _ONE.fullmatch(rule):
        name, turned = found[1] or found[3], found[2] or ""
        return ((_term(name, turned, known),) if name in known else ()), ""
    if (found := _OUTER.fullmatch(rule)) and found[1] in known and found[3] in known:
        return (_term(found[1], "", known), _term(found[3], "", known)), "⊗"
    tokens = _TOKEN.findall(rule)
    called = {t for t, after in pairwise([*tokens, ""]) if after == "(" and t.isidentifier()}
    names = dict.fromkeys(t for t, after in pairwise([*tokens, ""]) if after not in ("(", "=") and t in known)
    is_pointwise = called <= _POINTWISE and not {"@", "["} & {*tokens}
    return tuple([_term(name, "", known) for name in names]), "∘" if is_pointwise else ","


def _term(name: str, turned: str, known: Known) -> Term:
    text, at, is_phrase = known[name]
    return Term(f"({text}){turned}" if turned and is_phrase else text + turned, at, bool(turned))
