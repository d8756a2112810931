"""An op before it runs: its inputs, options and results, its rules, and the values that they save.

# Note [Parameter names say what is saved]
The first parameter of a rule is `grad`, or `grads` if the op has several outputs. The others name the values that it needs:
an input, an option, `result`, `<input>_sym_sizes`, `<input>_sym_numel`. Only these are saved, as `_saved_<name>` of the node.
A name with a leading underscore is not shown, because PyTorch's node hides it (the sizes of the inputs of `cat`).
`also_saved` names the values that PyTorch's node saves although no rule here needs them.

# Note [When a tensor is saved]
As in PyTorch, a tensor that only one of several rules needs is saved only if that rule will run. In `a * b` with `b` fixed,
`a` is not saved. Plain values and results are always saved. So are tensors that several rules or second derivatives need.
"""

from __future__ import annotations

import inspect
import re
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

from ..base.provenance import foreign_rules, is_ours
from ..base.readings import ARRAY_NAMES, SYMBOL_NAMES, TENSOR_NAMES, rebound, refuse_unknown_names
from .real_only import REAL_ONLY

DIMS = (*range(5), *(f"minus_{i}" for i in range(1, 5)))


def rule_parameters(rule: Callable[..., Any]) -> list[str]:
    """The parameters of a rule, read from its code: ten times as fast as `inspect.signature`."""
    made: Any = rule
    if hasattr(made, "__signature__"):
        return list(made.__signature__.parameters)
    return list(made.__code__.co_varnames[: made.__code__.co_argcount])


def return_type(name: str, *fields: str) -> Any:
    """A class of named tuples with the repr of PyTorch's torch.return_types.<name>."""
    results = namedtuple(name, fields)  # type: ignore[misc]

    def text(self: Any) -> str:
        inside = ",\n".join(f"{field}={getattr(self, field)!r}" for field in fields)
        return f"torch.return_types.{name}(\n{inside})"

    results.__repr__ = text  # type: ignore[method-assign]
    return results


class Rule(NamedTuple):
    """The vjp with respect to one input, in its three readings."""

    on_tensors: Callable[..., Any]
    on_arrays: Callable[..., Any]
    on_symbols: Callable[..., Any]
    wants: tuple[int, ...]  # indices of the node's saved values


class Traits(NamedTuple):
    """The options of `primitive(...)`."""

    view: bool = False  # the result shares the memory of the first input
    promotes: bool | Callable[..., Any] = False  # inputs get a common type; by this function, if it is one
    several: bool = False  # the op has several outputs, in any number
    cuts: bool = False  # the view stands outside the graph (detach)
    results: tuple[str, ...] = ()  # the names of a fixed number of outputs; whole-number outputs are not differentiable
    returns: str = ""  # the name of the tuple of `results`; default: the name of the op
    nondifferentiable: tuple[str, ...] = ()  # floating point outputs among `results` that are not differentiable
    materialize: bool = True  # zeros instead of None for the gradient of an unused output
    also_saved: tuple[str, ...] = ()  # values that PyTorch's node saves although the rules here do not need them
    usual: Callable[..., Any] | None = None  # a function in C that runs instead while each option has its default value


class Table:
    """The declaration of an op."""

    required = inspect.Parameter.empty

    def __init__(self, forward: Callable[..., Any], node_name: str, traits: Traits) -> None:
        self.forward, self.name, self.__name__, self.__doc__ = forward, forward.__name__, forward.__name__, forward.__doc__
        self.title = re.sub(r"Backward(s|\d*)(_copy)?$", "", node_name.rpartition("::")[2]) or self.name.capitalize()  # "Mul"
        self.node_name = node_name
        self.view, self.promotes, self.several, self.cuts, names, returns, fixed, self.materialize, *_ = traits
        self.also_saved, self.usual = traits.also_saved, traits.usual
        self.result_names, self.nondifferentiable = names, set(fixed)
        self.make_results: Any = return_type(returns or self.name.removesuffix("_dim"), *names) if names else None
        parameters = inspect.signature(forward).parameters.values()
        # the differentiable parameters; those that may be None; the one that takes any number
        self.inputs = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.optional = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is None}
        self.variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        self.options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}  # the others
        self.real_only = self.name in REAL_ONLY
        self.may_be_integer = "dtype" in self.options or self.name in ("copy_into", "nan_to_num")
        self.rules: tuple[Rule | None, ...] = ()  # one for each input
        self.saved_names: tuple[str, ...] = ()  # of the values that rules ask for
        self.slots: tuple[str, ...] = ()
        self.guards: tuple[int | None, ...] = ()  # see Note [When a tensor is saved]
        self.takes_all = False  # the rules get the gradients of all outputs, not only that of the first

    def read_rules(self, rules: dict[str, Callable[..., Any]]) -> None:
        """Read from the rules which values are saved. Refuse a rule for, or with, something that the op lacks."""
        inputs = [self.variadic] if self.variadic else self.inputs
        asked = {target: rule_parameters(rule) for target, rule in rules.items()}
        plain = {*inputs, *self.options, *(self.result_names or ("result",))}
        for target, (_, *names) in asked.items():
            if target not in inputs or not ({*names} <= plain or {n.removeprefix("_") for n in names} <= self._known(inputs)):
                choice = sorted(self._known(inputs))
                raise TypeError(f"{self.name}: rule for {target!r} asks for {names}; choose from {choice}")
            refuse_unknown_names(self.forward, target, rules[target])
            if not is_ours(getattr(rules[target], "__code__", self.forward.__code__).co_filename):
                foreign_rules.append(self.name)
        self.saved_names = tuple(sorted({name for _, *names in asked.values() for name in names}.union(self.also_saved)))
        self.slots = tuple(f"s_{name}" for name in self.saved_names)
        at = self.saved_names.index
        read = {
            n: Rule(rebound(r, TENSOR_NAMES), rebound(r, ARRAY_NAMES), rebound(r, SYMBOL_NAMES), tuple(map(at, asked[n][1:])))
            for n, r in rules.items()
        }
        self.rules = tuple(map(read.get, inputs))
        self.takes_all = any(first == "grads" for first, *_ in asked.values())
        self.guards = tuple(self._guard(place) for place in range(len(self.saved_names)))

    def _known(self, inputs: list[str]) -> set[str]:
        """The names that a rule may ask for."""
        known = {*inputs, *self.options, *(self.result_names or ("result",))}
        known |= {f"result{i}" for i in range(len(self.result_names))}
        known |= {f"{n}_sym_{what}" for n in inputs for what in ("sizes", "sizes_opt", "strides", "storage_offset", "numel")}
        known |= {f"{n}_dim" for n in inputs}
        return known | {f"{n}_sym_argsize_{d}" for n in (*inputs, *self.result_names) for d in DIMS}

    def _guard(self, place: int) -> int | None:
        """The input that must want a gradient so that the value at `place` is saved; None if it is always saved."""
        if self.result_index(self.saved_names[place]) is not None:
            return None
        users = [i for i, rule in enumerate(self.rules) if rule and place in rule.wants]
        several = sum(rule is not None for rule in self.rules) > 1
        return users[0] if len(users) == 1 and several and "backward" not in self.name else None

    def result_index(self, name: str) -> int | None:
        """The index of the result with this saved name, if there is one."""
        if name in self.result_names:
            return self.result_names.index(name)
        match = re.fullmatch(r"result(\d*)", name)
        return int(match[1] or 0) if match and name not in self.inputs else None

    @staticmethod
    def metadata_name(name: str) -> tuple[str, str]:
        """An input and its property: ("self", "sizes") for self_sym_sizes and for _self_sym_sizes."""
        base, _, what = name.removeprefix("_").partition("_sym_" if "_sym_" in name else "_dim")
        return base, what or "dim"

    @property
    def scalar_overload(self) -> Any:
        """PyTorch's overload of this op for a Python number (MulBackward1). Rules use it for numbers."""
        return TENSOR_NAMES.get(f"{self.name}_scalar") if self.promotes and len(self.inputs) == 2 else None
