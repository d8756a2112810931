"""The names in a rule: an editor finds them, and a name that no op has is refused when the rule is declared."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.twin.core.base import names, readings
from autograd_viz.twin.core.base.readings import ARRAY_NAMES, SYMBOL_NAMES, TENSOR_NAMES, composite, refuse_unknown_names
from autograd_viz.twin.core.methods import load_more
from autograd_viz.twin.core.op.primitive import Primitive, primitive

from ..house import PACKAGE

EACH = (ARRAY_NAMES, TENSOR_NAMES, SYMBOL_NAMES)
SCALE = 3.0


@pytest.fixture(autouse=True)
def declared() -> Iterator[None]:
    """What a test declares is gone after it."""
    before = [dict(reading) for reading in EACH]
    yield
    for reading, old in zip(EACH, before, strict=True):
        reading.clear()
        reading.update(old)


def cubed() -> Primitive:
    """A user's op without a rule."""

    @primitive("CubeBackward0")
    def cube(self: Any) -> Any:
        return self**3

    return cube


def test_the_stub_shows_every_op() -> None:
    """``python .ci/make_names.py`` writes it."""
    made = runpy.run_path(str(PACKAGE.parent / ".ci" / "make_names.py"))["stub"]()
    assert (PACKAGE / "twin" / "core" / "base" / "names.pyi").read_text(encoding="utf-8") == made


def test_a_name_is_an_op_even_before_its_file_is_loaded() -> None:
    late = names.declared_by_a_later_file  # type: ignore[attr-defined]
    cubed()
    TENSOR_NAMES["declared_by_a_later_file"] = TENSOR_NAMES["cube"]
    assert late(av.tensor([2.0])).tolist() == names.cube(av.tensor([2.0])).tolist() == [8.0]  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="__path__"):
        names.__path__


def nested(grad: Any, self: Any) -> Any:
    def inner(g: Any) -> Any:
        return twoo(g)  # type: ignore[name-defined]  # noqa: F821

    return sum(inner(g) for g in [grad])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda grad, self: grad * twoo(self), "uses the name 'twoo'"),  # type: ignore[name-defined]  # noqa: F821
        (nested, "uses the name 'twoo'"),
        (lambda grad, self: grad * conjugate(self), "Did you mean 'conjugated'?"),  # type: ignore[name-defined]  # noqa: F821
        (lambda grad, self: grad * SCALE, "A rule does not see the variables of its file: write `*, SCALE=SCALE`"),
        (lambda grad, self: grad if self is None else av.exp(grad), "write `*, av=av`"),
    ],
)
def test_a_rule_with_an_unknown_name_is_refused_when_declared(rule: Callable[..., Any], said: str) -> None:
    cube = cubed()
    with pytest.raises(NameError, match="cube: the rule for 'self' uses the name") as refused:
        cube.defvjp(self=rule)
    assert said in str(refused.value)
    assert cube.rules == ()


def calls_slope(grad: Any, self: Any) -> Any:
    return grad * slope_of(self)  # type: ignore[name-defined]  # noqa: F821


def test_an_unknown_name_in_what_a_rule_calls_is_refused_too() -> None:
    @composite
    def slope_of(x: Any) -> Any:
        return thrice(x)  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError, match="'thrice'"):
        cubed().defvjp(self=calls_slope)


def in_a_closure() -> Callable[..., Any]:
    three = 3.0
    return lambda grad, self: grad * three * self * self


def in_an_inner_function(grad: Any, self: Any) -> Any:
    def squared(x: Any, *, again: bool = False) -> Any:
        return squared(x, again=True) if not again else x * x

    return sum([grad * squared(self) * k for k in range(3)])


@pytest.mark.parametrize(
    "rule",
    [
        lambda grad, self: grad * 3 * self * self,
        in_a_closure(),
        in_an_inner_function,
        lambda grad, self, *, scale=SCALE: grad * scale * self * self,
        lambda grad, self: grad * mul_scalar(self * self, other=float(3)),  # type: ignore[name-defined]  # noqa: F821
        lambda grad, self: sum(grad * s for s in [self * self for _ in range(3)]),
        lambda grad, self: grad * self.shape[0] * 3 / len(self.shape) * self * self,
    ],
)
def test_closures_inner_functions_builtins_and_attributes_are_known(rule: Callable[..., Any]) -> None:
    cube = cubed()
    cube.defvjp(self=rule)
    x = av.tensor([2.0], requires_grad=True)
    cube(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [12.0]


def test_rare_ops_are_loaded_for_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "LATER", [lambda: TENSOR_NAMES.update(rare=abs)])
    cubed().defvjp(self=lambda grad, self: grad * rare(self))  # type: ignore[name-defined]  # noqa: F821
    assert "rare" in TENSOR_NAMES


def test_our_own_rules_use_known_names_only() -> None:
    load_more()
    for op in TENSOR_NAMES.values():
        for rule in op.rules if isinstance(op, Primitive) else ():
            if rule:
                refuse_unknown_names(cubed, op.name, rule.on_tensors)
