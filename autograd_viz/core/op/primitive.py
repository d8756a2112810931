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
`<input>_sym_sizes`, `<input>_sym_numel`. Nothing else is saved. The node shows them as `_saved_<name>`, but for those that
begin with an underscore, which PyTorch's node keeps to itself (the sizes of the inputs of `cat`). What PyTorch's node
keeps although no rule here needs it is said beside (`also_saved`).

# Note [When a tensor is saved]
As in PyTorch: a tensor that exactly one of several rules asks for is saved only if that rule will run (in `a * b` with
`b` fixed, `a` is not kept); plain values, results, and whatever more than one rule or the derivative of a derivative asks
for, always are.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple, cast

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.instrumented import attend
from ..backward.node import Node
from ..backward.saved import SavedResult, keep, keep_option
from ..base import provenance
from ..base.grad_mode import State, recording
from ..base.quiet import quiet
from ..base.readings import ARRAY_NAMES, SYMBOL_NAMES, TENSOR_NAMES, as_reading, declare, rebound, writer
from ..base.results import return_type
from ..base.symbol import Symbol
from ..tensor.arguments import array_of, as_operand, brought_together, check_broadcast
from ..tensor.tensor import Tensor
from . import call
from .node_class import make_node_class, write_backward
from .out import write_out
from .primitive_node import PrimitiveNode
from .view import become_view


class Rule(NamedTuple):
    """The vjp with respect to one input, in its three readings."""

    on_tensors: Callable[..., Any]
    on_arrays: Callable[..., Any]
    on_symbols: Callable[..., Any]
    wants: tuple[int, ...]  # places in the node's saved values


class Traits(NamedTuple):
    """What `primitive(...)` says of an op; see there."""

    view: bool
    promotes: bool
    several: bool
    cuts: bool
    results: tuple[str, ...]
    returns: str
    nondifferentiable: tuple[str, ...]
    materialize: bool
    also_saved: tuple[str, ...]


class Primitive:
    """An op that autograd knows; call it on tensors and Python numbers."""

    required = inspect.Parameter.empty

    def __init__(self, forward: Callable[..., Any], node_name: str, traits: Traits) -> None:
        self.forward, self.name, self.__doc__ = forward, forward.__name__, forward.__doc__
        self.__name__ = self.name
        short = re.sub(r"Backward(s|\d*)(_copy)?$", "", node_name.rpartition("::")[2])
        self.title = short or self.name.capitalize()  # "Mul", as in MulBackward0
        self.node_name = node_name
        self.view, self.promotes, self.several, self.cuts, names, returns, fixed, self.materialize, self.also_saved = traits
        self.result_names, self.nondifferentiable = names, set(fixed)
        self.make_results: Any = return_type(returns or self.name.removesuffix("_dim"), *names) if names else None
        parameters = inspect.signature(forward).parameters.values()
        self.inputs = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        self.optional = {p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is None}
        self.variadic = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        self.options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        self.may_be_integer = "dtype" in self.options
        self.rules: tuple[Rule | None, ...] = ()
        self.saved_names: tuple[str, ...] = ()
        self.slots: tuple[str, ...] = ()
        self.guards: tuple[int | None, ...] = ()
        self.savers: tuple[Callable[..., Any], ...] | None = None  # for each saved name, made at the first call
        self.takes_all = False  # the rules get the gradients of all outputs, not only that of the first
        self.node_class: type[PrimitiveNode] | None = None
        self._program: Callable[..., Any] | None = None
        self.method_names: list[str] = []  # under which Tensor has it (methods.py)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if not isinstance(instance, Tensor):
            return self
        for name in self.method_names:  # from now on the program itself is the method: nothing is looked up on the way
            setattr(Tensor, name, self.program)
        return MethodType(self.program, instance)

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
        known |= {f"{n}_sym_{what}" for n in inputs for what in ("sizes", "sizes_opt", "strides", "storage_offset", "numel")}
        known |= {f"{n}_dim" for n in inputs}
        dims = (*range(5), *(f"minus_{i}" for i in range(1, 5)))
        known |= {f"{n}_sym_argsize_{d}" for n in (*inputs, *self.result_names) for d in dims}
        for target, rule in rules.items():
            asked = list(inspect.signature(rule).parameters)[1:]
            if target not in inputs or not {name.removeprefix("_") for name in asked} <= known:
                raise TypeError(f"{self.name}: rule for {target!r} asks for {asked}; choose from {sorted(known)}")
        asked_by_any = {name for r in rules.values() for name in list(inspect.signature(r).parameters)[1:]}
        self.saved_names = tuple(sorted(asked_by_any.union(self.also_saved)))
        self.slots = tuple(f"s_{name}" for name in self.saved_names)
        self.rules = tuple(self._read(rules[n]) if n in rules else None for n in inputs)
        self.takes_all = any(next(iter(inspect.signature(r).parameters)) == "grads" for r in rules.values())
        self.guards = tuple(self._guard(place) for place in range(len(self.saved_names)))
        self.node_class = make_node_class(self)

    def write_backward(self) -> None:
        """Give the node class its programs, when one of them is first wanted."""
        write_backward(self)

    def _read(self, rule: Callable[..., Any]) -> Rule:
        """Bind one rule to its three namespaces."""
        wants = tuple(self.saved_names.index(n) for n in list(inspect.signature(rule).parameters)[1:])
        return Rule(rebound(rule, TENSOR_NAMES), rebound(rule, ARRAY_NAMES), rebound(rule, SYMBOL_NAMES), wants)

    def _guard(self, place: int) -> int | None:
        """The input that must want a gradient for the saved value at `place` to be kept, or None if it always is."""
        if self.result_index(self.saved_names[place]) is not None:
            return None
        users = [i for i, rule in enumerate(self.rules) if rule and place in rule.wants]
        several = sum(rule is not None for rule in self.rules) > 1
        return users[0] if len(users) == 1 and several and "backward" not in self.name else None

    def result_index(self, name: str) -> int | None:
        """Which result a saved name means, if any."""
        if name in self.result_names:
            return self.result_names.index(name)
        match = re.fullmatch(r"result(\d*)", name)
        return int(match[1] or 0) if match and name not in self.inputs else None

    @staticmethod
    def metadata_name(name: str) -> tuple[str, str]:
        """The input, and what of it: ("self", "sizes") for self_sym_sizes and for _self_sym_sizes."""
        base, _, what = name.removeprefix("_").partition("_sym_" if "_sym_" in name else "_dim")
        return base, what or "dim"

    # -- forward ------------------------------------------------------------------------------------------------------

    @property
    def program(self) -> Callable[..., Any]:
        """The function that runs the op and records it (call.py)."""
        if self._program is None:
            self._program = self._call if self.variadic or self.several else call.program(self)
        return self._program

    @property
    def scalar_overload(self) -> Primitive | None:
        """PyTorch's overload of this op for a plain number, which is what rules mean by one (MulBackward1)."""
        return TENSOR_NAMES.get(f"{self.name}_scalar") if self.promotes and len(self.inputs) == 2 else None

    @property
    def source(self) -> str:
        """The text of `program`."""
        return inspect.getsource(self.program)

    def __call__(self, /, *args: Any, **options: Any) -> Any:
        """Run the op on tensors and numbers, and record it if grad mode is on."""
        if options:
            if "input" in options and "input" not in self.inputs:
                options["self"] = options.pop("input")
            if "out" in options and "out" not in self.options and (out := options.pop("out")) is not None:
                return write_out(out, self.name, self.program, args, options)
        return (self._program or self.program)(*args, **options)

    def _call(self, /, *args: Any, **options: Any) -> Any:
        """A call of an op with any number of inputs or results."""
        args, options = self._bound(args, options)
        inputs = tuple(
            a
            if isinstance(a, Tensor) or (a is None and not self.variadic and self.inputs[i] in self.optional)
            else as_operand(a, self.name, i)
            for i, a in enumerate(args)
        )
        for t in inputs if recording() else ():
            if t is not None and t._view is not None:
                t._view.refresh(t)
        arrays = [None if t is None else t._data for t in inputs]
        if self.promotes:
            check_broadcast(*inputs)
            arrays = list(brought_together(*inputs))
        value = quiet.run(self.forward, *arrays, **{k: array_of(v) for k, v in options.items()})
        results = tuple(Tensor(v) for v in value) if self.several else (Tensor(value),)
        if self.view:
            for i, r in enumerate(results):
                become_view(r, cast(Tensor, inputs[0]), self, options, i)
        if recording():
            self._record(inputs, options, results)
        elif State.attentive:
            for r in results:
                attend(None, r)
        return results if self.several else results[0]

    def _bound(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The tensor arguments in order, and all options: what is positional beyond the tensors are options in order."""
        if not self.variadic:
            most = len(self.inputs) + len(self.options)
            if len(args) > most:
                raise TypeError(f"{self.name}() takes {most} positional arguments but {len(args)} were given")
            options = {**dict(zip((*self.inputs, *self.options), args, strict=False)), **options}
            missing = [n for n in self.inputs if n not in options and n not in self.optional]
            if missing:
                raise TypeError(f"{self.name}() missing 1 required positional arguments: {missing[0]!r}")
            args = tuple(options.pop(n, None) for n in self.inputs)
        if unknown := options.keys() - self.options.keys():
            raise TypeError(f"{self.name}() got an unexpected keyword argument {sorted(unknown)[0]!r}")
        options = {**self.options, **options}
        for n, v in options.items():
            if v is self.required:
                raise TypeError(f"{self.name}() missing 1 required positional arguments: {n!r}")
        return args, options

    def _record(self, inputs: tuple[Tensor | None, ...], options: dict[str, Any], results: tuple[Tensor, ...]) -> None:
        """Make the backward node if one is needed, and remember which op made the results."""
        frame = provenance.callers_frame()
        outputs = tuple(r for r in results if r._data.dtype.kind in "fc")
        if self.node_class is None or not outputs or not any(t is not None and t.requires_grad for t in inputs):
            made = provenance.untracked(self.title, inputs, options, frame)
            made.outputs = tuple(weakref.ref(r) for r in results) if len(results) > 1 else ()
            for r in results:
                r._made_by = made
                if State.attentive:
                    attend(None, r)
            return
        edges = tuple((None, 0) if t is None else gradient_edge(t) for t in inputs)
        node: PrimitiveNode = cast(Any, self.node_class)()
        Node.__init__(node, edges, tuple((r._data.shape, r._data.dtype) for r in outputs))
        node.inputs, node.options, node._code, node._lasti = inputs, options, frame.f_code, frame.f_lasti
        if len(results) > 1:
            node._results = tuple(weakref.ref(r) for r in results)
        for i, r in enumerate(outputs):
            r._set_history(node, i)
        for r in results:
            r._made_by = node
        self._save(node, inputs, options, results)
        if State.attentive:
            attend(node, results[0])

    def _save(
        self, node: PrimitiveNode, inputs: tuple[Tensor | None, ...], options: dict[str, Any], results: tuple[Tensor, ...]
    ) -> None:
        """What the rules ask for; see Note [When a tensor is saved]."""
        if self.savers is None:
            self.savers = tuple(map(self._saver, self.saved_names))
        for save, guard, slot in zip(self.savers, self.guards, self.slots, strict=True):
            unwanted = guard is not None and node._next[guard] is None
            setattr(node, slot, save(inputs, options, results, unwanted))

    def _saver(self, name: str) -> Callable[..., Any]:
        """What picks the value `name` out of the inputs, options and results of a call."""
        if name in self.options:
            return lambda inputs, options, results, unwanted: keep_option(options[name])
        if (index := self.result_index(name)) is not None:
            return lambda inputs, options, results, unwanted: None if unwanted else SavedResult(results[index])
        if name in self.inputs:
            place = self.inputs.index(name)
            return lambda inputs, options, results, unwanted: None if unwanted else keep(inputs[place])
        base, what = self.metadata_name(name)
        if base == self.variadic:
            return lambda inputs, options, results, unwanted: tuple(call.metadata(t, what) for t in inputs)
        place = self.inputs.index(base)
        return lambda inputs, options, results, unwanted: call.metadata(inputs[place], what)

    # -- backward -----------------------------------------------------------------------------------------------------

    def materialized(self, node: PrimitiveNode, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Zeros for the outputs that nobody used."""
        on_tensors = any(isinstance(g, Tensor) for g in grads)
        zeros = (np.zeros(shape, kind) for shape, kind in node._outputs_metadata())
        return tuple((Tensor(z) if on_tensors else z) if g is None else g for g, z in zip(grads, zeros, strict=True))


def primitive(
    node_name: str = "",
    *,
    view: bool = False,
    promotes: bool = False,
    several: bool = False,
    cuts: bool = False,
    results: tuple[str, ...] = (),
    returns: str = "",
    nondifferentiable: tuple[str, ...] = (),
    materialize: bool = True,
    also_saved: tuple[str, ...] = (),
    written: Callable[..., Symbol] | None = None,
) -> Callable[..., Primitive]:
    """Declare an op. `node_name` is PyTorch's name of its backward node (tabled, never derived).

    Args:
        node_name: empty for an op that is not differentiable.
        view: the result shares the memory of the first input.
        promotes: inputs of different types are brought to a common one.
        several: the op has several outputs, as many as it likes.
        cuts: the view stands outside the graph (detach).
        results: the names of a fixed number of outputs; whole numbers among them are not differentiable.
        returns: the name of the tuple of `results`, if it is not the op's.
        nondifferentiable: those of `results` that are not, although they are floating point.
        materialize: zeros instead of None for the gradient of an output that nobody used.
        also_saved: what PyTorch's node keeps beside what the rules ask for.
        written: how a formula shows it, as a rule on Symbols; a call of its name if left out.
    """
    traits = Traits(view, promotes, several, cuts, results, returns, nondifferentiable, materialize, also_saved)

    def decorate(forward: Callable[..., Any]) -> Primitive:
        p = Primitive(forward, node_name, traits)
        shown = re.sub(r"_(dims?|all|sizes|scalar|tensors?)$", "", p.name)
        declare(forward, forward, p, as_reading(written) if written else writer(shown))
        return p

    return decorate
