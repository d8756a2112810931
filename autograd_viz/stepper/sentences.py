"""What the stepper says of a step, and what to do about a pass that cannot run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..answers.sentences import Arrival, Sentences, born_in, sent, together
from ..graph.trace import NUMBERS, RULES, Step

Arrivals = Mapping[int, Sequence[Arrival]]  # by output of a node's op


def in_words(ran: Step, sentences: Sentences, arrivals: Arrivals, end: list[str]) -> Step:
    """What a pass has done, with flags and, if it has none, a sentence, which more may end, and rules in the user's names. It
    does not refer to the stepper: such a cycle would be freed late, or never through C++ code.
    """
    return Step.later(
        ran.node,
        ran.addresses,
        (NUMBERS, lambda: {name: getattr(ran, name) for name in NUMBERS}),
        (RULES, lambda: {name: getattr(ran, name) for name in RULES}),
        (("sentence",), lambda: {"sentence": together([ran.sentence or sentences.said(ran, arrivals), *end])}),
        (("flags",), lambda: {"flags": born_in(ran, sent(a for several in arrivals.values() for a in several))}),
        (("named",), lambda: {"named": ran.named or sentences.rules.of(ran, arrivals)}),
    )


ADVICE = {
    "grad can be implicitly created only for scalar outputs": "this tensor {kind}: call {call}, or {sum}",
    "grad can be implicitly created only for real scalar outputs": "call {call}, or make it real: abs()",
    "element 0 of tensors does not require grad": "av.explain(tensor) says why",
    "Trying to backward through the graph a second time": "compute it again, and step it before backward(); to save a pass "
    "that a stepper has run, save the stepper: s = av.step(tensor); s.finish(); av.save(s, path)",
}


def advise(error: RuntimeError, root: Any = None, call: str = "av.step(tensor, gradient)") -> None:
    """Write the advice behind the message of a pass's error; `call`: how a verb takes the first gradient."""
    said, is_nested = str(error), getattr(root, "is_nested", False)
    kind = "is nested" if is_nested else f"has shape {tuple(getattr(root, 'shape', ()))}"
    advice = next((advice for begin, advice in ADVICE.items() if said.startswith(begin)), "")
    advice = advice.format(kind=kind, call=call, sum="to_padded_tensor(0.0).sum() first" if is_nested else "sum() it first")
    if advice and not said.endswith(advice):
        error.args = (f"{said.removesuffix('.')}; {advice}",)


@contextmanager
def with_advice(root: Any = None, **call: str) -> Iterator[None]:
    """If the pass of `root` cannot run, the error also says what to do."""
    try:
        yield
    except RuntimeError as error:
        advise(error, root, **call)
        raise
