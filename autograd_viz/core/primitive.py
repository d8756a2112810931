"""What an op is: a NumPy forward, and one gradient rule per input (said once, read three times: readings.py).

    @primitive("MulBackward0")
    def mul(self, other):
        return self * other
    mul.defvjp(
        self  = lambda grad, other: grad * other,
        other = lambda grad, self:  grad * self,
    )

# Note [Parameter names say what is saved]
After `grad` (or `grads`, if the op has several outputs) a rule names what it needs: an input, an option, `result`,
`<input>_sym_sizes`, `<input>_sym_numel`. Nothing else is saved. The node shows them as `_saved_<name>`.

# Note [When a tensor is saved]
As in PyTorch: a tensor that exactly one of several rules asks for is saved only if that rule will run (in `a * b` with
`b` fixed, `a` is not kept); plain values, results, and whatever more than one rule or the derivative of a derivative asks
for, always are.
"""

from __future__ import annotations

import inspect
import re
from collections import namedtuple
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from . import provenance
from .arguments import as_operand
from .dtypes import promote
from .grad_mode import is_grad_enabled
from .node import PrimitiveNode, SavedTensor, gradient_edge
from .readings import ARRAY_NAMES, SYMBOL_NAMES, TENSOR_NAMES, rebound, writer
from .symbol import Symbol
from .tensor import Tensor


class Rule(NamedTuple):
    """The vjp with respect to one input, in its three readings."""

    on_tensors: Callable[..., Any]
    on_arrays: Callable[..., Any]
    on_symbols: Callable[..., Any]
    wants: tuple[int, ...]  # places in the node's saved values


class Primitive:
    """An op that autograd knows; call it on tensors and Python numbers."""

    def __init__(
        self,
        forward: Callable[..., Any],
        node_name: str,
        *,
        view: bool,
        promotes: bool,
        several: bool,
        cuts: bool,
        results: tuple[str, ...],
        nondifferentiable: tuple[str, ...],
        materialize: bool,
    ) -> None:
        self.forward, self.name, self.__doc__ = forward, forward.__name__, forward.__doc__
        self.__name__ = self.name
        self.title = re.sub(r"Backward(s|\d*)$", "", node_name) or self.name.capitalize()  # "Mul", as in MulBackward0
        self.node_name, self.view, self.promotes, self.cuts = node_name, view, promotes, cuts
        self.several = several or bool(results)
        self.result_names, self.nondifferentiable, self.materialize = results, set(nondifferentiable), materialize
        self.make_results = namedtuple(self.name, results) if results else None
        parameters = inspect.signature(forward).parameters.values()
        self.inputs = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.optional = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is None}
        self.variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        self.options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        self.rules: tuple[Rule | None, ...] = ()
        self.saved_names: tuple[str, ...] = ()
        self._guards: tuple[int | None, ...] = ()
        self._takes_all = False  # the rules get the gradients of all outputs, not only that of the first
        self.node_class: type[PrimitiveNode] | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    # -- declaring ----------------------------------------------------------------------------------------------------

    def defvjp(self, /, **rules: Callable[..., Any]) -> None:
        """Give the rule of each differentiable input.

        Raises:
            TypeError: a rule is for, or asks for, something the op does not have; the message lists the choices.
        """
        inputs = [self.variadic] if self.variadic else self.inputs
        known = {*inputs, *self.options, *(self.result_names or ("result",))}
        known |= {f"result{i}" for i in range(len(self.result_names))}
        known |= {f"{n}_sym_{what}" for n in inputs for what in ("sizes", "sizes_opt", "strides", "numel")}
        known |= {f"{n}_sym_argsize_{d}" for n in inputs for d in (*range(5), *(f"minus_{i}" for i in range(1, 5)))}
        for target, rule in rules.items():
            asked = list(inspect.signature(rule).parameters)[1:]
            if target not in inputs or not set(asked) <= known:
                raise TypeError(f"{self.name}: rule for {target!r} asks for {asked}; choose from {sorted(known)}")
        asked_by_any = {name for r in rules.values() for name in list(inspect.signature(r).parameters)[1:]}
        self.saved_names = tuple(sorted(asked_by_any))
        self.rules = tuple(self._read(rules[n]) if n in rules else None for n in inputs)
        self._takes_all = any(next(iter(inspect.signature(r).parameters)) == "grads" for r in rules.values())
        self._guards = tuple(self._guard(place) for place in range(len(self.saved_names)))
        self.node_class = _make_node_class(self)

    def _read(self, rule: Callable[..., Any]) -> Rule:
        """Bind one rule to its three namespaces."""
        wants = tuple(self.saved_names.index(n) for n in list(inspect.signature(rule).parameters)[1:])
        return Rule(rebound(rule, TENSOR_NAMES), rebound(rule, ARRAY_NAMES), rebound(rule, SYMBOL_NAMES), wants)

    # -- forward ------------------------------------------------------------------------------------------------------

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        """Run the op on tensors and numbers, and record it if grad mode is on."""
        args, options = self._bound(args, options)
        inputs = tuple(
            a if isinstance(a, Tensor) or (a is None and self.inputs[i] in self.optional) else as_operand(a, self.name, i)
            for i, a in enumerate(args)
        )
        arrays = self._arrays(inputs)
        with np.errstate(all="ignore"):  # inf and nan are values here, as in PyTorch
            value = self.forward(*arrays, **{k: _array_of(v) for k, v in options.items()})
        results = tuple(Tensor._of(v) for v in value) if self.several else (Tensor._of(value),)
        if self.view:
            for r in results:
                r._share_storage(inputs[0], self.cuts)  # type: ignore[arg-type]
        if is_grad_enabled():
            self._record(inputs, options, results)
        if self.make_results:
            return self.make_results(*results)
        return results if self.several else results[0]

    def _bound(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The tensor arguments in order, and all options: what is positional beyond the tensors are options in order."""
        if not self.variadic:
            positional = dict(zip((*self.inputs, *self.options), args, strict=False))
            if len(args) > len(self.inputs) + len(self.options):
                most = len(self.inputs) + len(self.options)
                raise TypeError(f"{self.name}() takes {most} positional arguments but {len(args)} were given")
            options = {
                **positional,
                **{"self" if k == "input" and "input" not in self.inputs else k: v for k, v in options.items()},
            }
            missing = [n for n in self.inputs if n not in options and n not in self.optional]
            if missing:
                raise TypeError(f"{self.name}() missing 1 required positional arguments: {missing[0]!r}")
            args = tuple(options.pop(n, None) for n in self.inputs)
        if unknown := options.keys() - self.options.keys():
            raise TypeError(f"{self.name}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
        options = {**self.options, **options}
        for n, v in options.items():
            if v is inspect.Parameter.empty:
                raise TypeError(f"{self.name}() missing 1 required positional arguments: {n!r}")
        return args, options

    def _arrays(self, inputs: tuple[Tensor | None, ...]) -> list[Any]:
        """The inputs' arrays, brought to their common type if the op mixes types."""
        arrays = [None if t is None else t._data for t in inputs]
        if not self.promotes:
            return arrays
        there = [(t._data, t._is_number) for t in inputs if t is not None]
        for a, _ in there[1:]:
            check_broadcast(there[0][0].shape, a.shape)
        if any(a.dtype != there[0][0].dtype for a, _ in there):
            common = promote([(a.dtype, a.ndim, is_number) for a, is_number in there])
            with np.errstate(all="ignore"):
                return [None if a is None else a.astype(common, copy=False) for a in arrays]
        return arrays

    def _record(self, inputs: tuple[Tensor | None, ...], options: dict[str, Any], results: tuple[Tensor, ...]) -> None:
        """Make the backward node if one is needed, and remember which op made the results."""
        node = None
        outputs = tuple(r for i, r in enumerate(results) if self._is_differentiable(i, r))
        if self.node_class is not None and outputs and any(t is not None and t._requires_grad for t in inputs):
            edges = tuple((None, 0) if t is None else gradient_edge(t) for t in inputs)
            metadata = tuple((r._data.shape, r._data.dtype) for r in outputs)
            node = self.node_class(edges, metadata, self._save(inputs, options, results))
            for i, r in enumerate(outputs):
                r._set_history(node, i)
        given = tuple(t for t in inputs if t is not None)
        given += tuple(
            t for v in options.values() for t in (v if isinstance(v, tuple | list) else (v,)) if isinstance(t, Tensor)
        )
        provenance.record(self.title, given, options, results, node)

    def _is_differentiable(self, index: int, result: Tensor) -> bool:
        if self.result_names and self.result_names[index] in self.nondifferentiable:
            return False
        return result._data.dtype.kind in "fc"

    def _save(self, inputs: tuple[Tensor | None, ...], options: dict[str, Any], results: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """What the rules ask for, in the order of `saved_names`; see Note [When a tensor is saved]."""
        saved: list[Any] = []
        for name, guard in zip(self.saved_names, self._guards, strict=True):
            of_guard = None if guard is None else inputs[guard]
            wanted = guard is None or (of_guard is not None and of_guard._requires_grad)
            index = self._result_index(name)
            if name in options:
                saved.append(_kept_option(options[name]))
            elif index is not None:
                saved.append(self._kept_result(results, index) if wanted else None)
            elif name in self.inputs:
                t = inputs[self.inputs.index(name)]
                saved.append(SavedTensor(t) if wanted and t is not None else None)
            else:
                base, _, what = name.partition("_sym_")
                saved.append(_metadata(inputs[self.inputs.index(base)], what))
        return tuple(saved)

    def _kept_result(self, results: tuple[Tensor, ...], index: int) -> SavedTensor:
        """An own result, kept so that the node and it are no reference cycle."""
        if not self._is_differentiable(index, results[index]):
            return SavedTensor(results[index]._without_history())
        return SavedTensor(results[index], sum(self._is_differentiable(i, r) for i, r in enumerate(results[:index])))

    def _result_index(self, name: str) -> int | None:
        """Which result a saved name means, if any."""
        if name in self.result_names:
            return self.result_names.index(name)
        match = re.fullmatch(r"result(\d*)", name)
        return int(match[1] or 0) if match and name not in self.inputs else None

    def _guard(self, place: int) -> int | None:
        """The input that must require grad for the saved value at `place` to be kept, or None if it always is."""
        if self._result_index(self.saved_names[place]) is not None:
            return None
        users = [i for i, rule in enumerate(self.rules) if rule and place in rule.wants]
        several = sum(rule is not None for rule in self.rules) > 1
        return users[0] if len(users) == 1 and several and "backward" not in self.name else None

    # -- backward -----------------------------------------------------------------------------------------------------

    def vjp(self, node: PrimitiveNode, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """grad_inputs of `node`: the rule of every input that wants a gradient, run on arrays or on tensors."""
        several = self.several and self._takes_all
        grad = grads[0] if not several else self._materialized(node, grads, on_tensors) if self.materialize else grads
        values = {i: node.unpack(i) for i in self._places(node)}
        if not on_tensors:
            values = {i: _plain(v) for i, v in values.items()}
        out: list[Any] = []
        for need, rule in zip(self._needs(node), self.rules, strict=True):
            function = rule and (rule.on_tensors if on_tensors else rule.on_arrays)
            out.append(function(grad, *(values[i] for i in rule.wants)) if need and rule and function else None)
        return tuple(out[0]) if self.variadic else tuple(out)

    def formulas(self, node: PrimitiveNode, grads: tuple[Symbol, ...], saved: dict[str, Symbol]) -> dict[str, str]:
        """The third reading: the text of every rule that runs for `node`, by input name.

        Args:
            node: says which inputs want a gradient.
            grads: a symbol per grad_output.
            saved: symbols for saved tensors; what is not there (a dim, an exponent) is shown by its value.
        """
        grad: Any = list(grads) if self._takes_all else grads[0]
        texts = {}
        for name, need, rule in zip(
            [self.variadic] if self.variadic else self.inputs, self._needs(node), self.rules, strict=True
        ):
            if need and rule and name:
                values = [saved.get(self.saved_names[i], node._saved[i]) for i in rule.wants]
                texts[name] = repr(rule.on_symbols(grad, *values))
        return texts

    def _needs(self, node: PrimitiveNode) -> tuple[bool, ...]:
        return (True,) if self.variadic else node._needs

    def _places(self, node: PrimitiveNode) -> set[int]:
        """The saved values that the rules of this node use."""
        return {i for need, rule in zip(self._needs(node), self.rules, strict=True) if need and rule for i in rule.wants}

    def _materialized(self, node: PrimitiveNode, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Zeros for the outputs that nobody used."""
        zeros = [np.zeros(shape, dtype) for shape, dtype in node._input_metadata]
        return tuple((Tensor._of(z) if on_tensors else z) if g is None else g for g, z in zip(grads, zeros, strict=True))


def _array_of(value: Any) -> Any:
    """An option as the forward wants it: tensors (alone or in a list) as arrays."""
    if isinstance(value, Tensor):
        return value._data
    if isinstance(value, tuple | list) and any(isinstance(v, Tensor) for v in value):
        return tuple(_array_of(v) for v in value)
    return value


def _kept_option(value: Any) -> Any:
    """An option as a node keeps it: tensors (alone or in a list) as SavedTensor."""
    if isinstance(value, Tensor):
        return SavedTensor(value)
    if isinstance(value, tuple | list) and any(isinstance(v, Tensor) for v in value):
        return tuple(_kept_option(v) for v in value)
    return value


def _metadata(tensor: Tensor | None, what: str) -> Any:
    """`<input>_sym_sizes` and its like."""
    if tensor is None:
        return None
    array = tensor._data
    if what.startswith("argsize_"):
        which = what.removeprefix("argsize_")
        return array.shape[-int(which[6:]) if which.startswith("minus_") else int(which)]
    if what == "strides":
        return tuple(n // array.itemsize for n in array.strides)
    return array.size if what == "numel" else array.shape


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Refuse shapes that do not broadcast.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if a == b:
        return
    longest = max(len(a), len(b))
    for i in range(1, min(len(a), len(b)) + 1):
        if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
            raise RuntimeError(
                f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at non-singleton dimension "
                f"{longest - i}"
            )


def _plain(value: Any) -> Any:
    """A saved tensor as the first reading wants it; a Python number stays one, so that it does not widen the result."""
    if isinstance(value, Tensor):
        return value._data.item() if value._is_number else value._data
    return tuple(_plain(v) for v in value) if isinstance(value, tuple) else value


def _make_node_class(p: Primitive) -> type[PrimitiveNode]:
    """The backward node's class: PyTorch's name, and a `_saved_<name>` property for each saved value."""

    def saved_property(index: int) -> property:
        return property(lambda node: node.unpack(index))

    body: dict[str, Any] = {f"_saved_{name}": saved_property(i) for i, name in enumerate(p.saved_names)}
    return type(p.node_name, (PrimitiveNode,), {"__slots__": (), "primitive": p, "__doc__": f"Backward of {p.name}.", **body})


def primitive(
    node_name: str = "",
    *,
    view: bool = False,
    promotes: bool = False,
    several: bool = False,
    cuts: bool = False,
    results: tuple[str, ...] = (),
    nondifferentiable: tuple[str, ...] = (),
    materialize: bool = True,
    written: Callable[..., Symbol] | None = None,
) -> Callable[..., Primitive]:
    """Declare an op. `node_name` is PyTorch's name of its backward node (tabled, never derived).

    Args:
        node_name: empty for an op that is not differentiable.
        view: the result shares the memory of the first input.
        promotes: inputs of different types are brought to a common one.
        several: the op has several outputs, as many as it likes.
        results: the names of a fixed number of outputs; whole numbers among them are not differentiable.
        nondifferentiable: those of `results` that are not, although they are floating point.
        materialize: zeros instead of None for the gradient of an output that nobody used.
        cuts: the view stands outside the graph (detach).
        written: how a formula shows it, as a function of Symbols; a call of its name if left out.
    """

    def declare(forward: Callable[..., Any]) -> Primitive:
        p = Primitive(
            forward,
            node_name,
            view=view,
            promotes=promotes,
            several=several,
            cuts=cuts,
            results=results,
            nondifferentiable=nondifferentiable,
            materialize=materialize,
        )
        ARRAY_NAMES[p.name], TENSOR_NAMES[p.name] = forward, p
        SYMBOL_NAMES[p.name] = written or writer(re.sub(r"_(dims?|all|sizes|scalar|tensors?)$", "", p.name))
        return p

    return declare
