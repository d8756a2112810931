"""An operand that writes its own formula: the third reading of a backward rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

# precedence: a text of lower precedence gets brackets inside one of higher
_COMPARE, _SUM, _PRODUCT, _POWER, _ATOM = range(5)


class Symbol:
    """A text such as ``grad * other`` that grows when operators are applied to it.

    >>> (Symbol("grad") * (Symbol("a") + 1)).text
    'grad * (a + 1)'
    """

    __slots__ = ("binding", "is_complex", "text")
    if TYPE_CHECKING:  # the loops below set them

        def __mul__(self, other: Any) -> Symbol: ...

        __add__ = __sub__ = __truediv__ = __mul__

    def __init__(self, text: str, binding: int = _ATOM, is_complex: bool = False) -> None:
        self.text, self.binding, self.is_complex = text, binding, is_complex

    def __repr__(self) -> str:
        return self.text

    def __neg__(self) -> Symbol:
        return Symbol(f"-{_bracketed(self, _PRODUCT)}", _PRODUCT, self.is_complex)

    def __getitem__(self, index: Any) -> Symbol:
        return Symbol(f"{_bracketed(self, _ATOM)}[{index!r}]", _ATOM, self.is_complex)


class Symbols(tuple[Any, ...]):
    """Symbols with a common name: together they are ``grads``, one alone is ``grads[0]``."""

    name: str

    def __repr__(self) -> str:
        return self.name


def symbols(name: str, parts: Iterable[Any]) -> Symbols:
    """`parts` under a common name."""
    together = Symbols(parts)
    together.name = name
    return together


def number(text: str, is_complex: bool = False) -> Symbol:
    """A number as an operand. A negative or complex number gets brackets inside a product."""
    return Symbol(text, _SUM if text[0] == "-" or (is_complex and text[0] != "[") else _ATOM, is_complex)


def _bracketed(operand: Symbol, binding: int, strict: bool = False) -> str:
    return f"({operand.text})" if operand.binding < binding + strict else operand.text


def _infix(sign: str, binding: int, swapped: bool = False) -> Callable[[Symbol, Any], Symbol]:
    def operator(self: Symbol, other: Any) -> Symbol:
        operand = other if isinstance(other, Symbol) else number(repr(other))
        left, right = (operand, self) if swapped else (self, operand)
        strict_left, strict_right = sign == "**", sign != "+"
        text = f"{_bracketed(left, binding, strict_left)} {sign} {_bracketed(right, binding, strict_right)}"
        return Symbol(text, binding, left.is_complex or right.is_complex)

    return operator


for _name, _sign, _binding in (
    ("add", "+", _SUM), ("sub", "-", _SUM), ("mul", "*", _PRODUCT), ("truediv", "/", _PRODUCT),
    ("matmul", "@", _PRODUCT), ("pow", "**", _POWER),
):  # fmt: skip
    setattr(Symbol, f"__{_name}__", _infix(_sign, _binding))
    setattr(Symbol, f"__r{_name}__", _infix(_sign, _binding, swapped=True))
for _name, _sign in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")):
    setattr(Symbol, f"__{_name}__", _infix(_sign, _COMPARE))


def call(name: str, *args: Any, **options: Any) -> Symbol:
    """The text of a function call; options keep their names.

    >>> call("sum", Symbol("grad"), (0,), keepdim=True).text
    'sum(grad, (0,), keepdim=True)'
    """
    parts = [repr(a) for a in args] + [f"{k}={v!r}" for k, v in options.items()]
    return Symbol(f"{name}({', '.join(parts)})", is_complex=any(isinstance(a, Symbol) and a.is_complex for a in args))
