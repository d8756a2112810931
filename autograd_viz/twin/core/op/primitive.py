"""What an op is: a NumPy forward, and a backward rule per input. See the notes in table.py, and "To add an op" in README.md."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable
from functools import cached_property, update_wrapper, wraps
from types import MethodType
from typing import Any, cast

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.instrumentation import attend
from ..backward.node import Node
from ..backward.saved import SavedResult, keep, keep_option
from ..base import provenance
from ..base.grad_mode import State, recording
from ..base.quiet import quiet
from ..base.readings import as_reading, declare, writer
from ..base.symbol import Symbol
from ..tensor.arguments import array_of, as_operand, brought_together, check_broadcast
from ..tensor.tensor import Tensor
from . import call
from .node_class import make_node_class, write_backward
from .out import write_out
from .primitive_node import PrimitiveNode
from .real_only import refuse_complex
from .table import Table, Traits
from .view import become_view


class Primitive(Table):
    """An op that autograd knows; call it on tensors and Python numbers."""

    def __init__(self, forward: Callable[..., Any], node_name: str, traits: Traits) -> None:
        super().__init__(forward, node_name, traits)
        self.savers: tuple[Callable[..., Any], ...] | None = None  # for each saved name, made at the first call
        self._program: Callable[..., Any] | None = None
        self.method_names: list[str] = []  # its method names on Tensor (methods.py)
        self.inside: tuple[Any, str, str] | None = None  # the function that shall have the program in it (see `enter`)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if not isinstance(instance, Tensor):
            return self
        for name in self.method_names:  # from now on the program itself is the method, without a lookup
            setattr(Tensor, name, self.program)
        return MethodType(self.program, instance)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"

    def defvjp(self, /, **rules: Callable[..., Any]) -> None:
        """Give the rules of inputs. Raises TypeError: the op lacks what one asks for; NameError: an unknown name."""
        self.read_rules(rules)

    def enter(self, function: Any, method: str, test: str) -> None:
        """Have the program in `function`, Tensor's `method`, for arguments that pass `test`, a text about the inputs."""
        self.inside = function, method, test

    @cached_property
    def node_class(self) -> type[PrimitiveNode] | None:
        """The class of its nodes, made at the first call; None for an op without rules."""
        return make_node_class(self) if self.rules else None

    def write_backward(self) -> None:
        """Give the node class its programs. It is called at their first use."""
        write_backward(self, self.node_class)

    @property
    def program(self) -> Callable[..., Any]:
        """The function that runs the op and records it (call.py)."""
        if self._program is None:
            self._program = self._call if self.variadic or self.several else call.program(self, self.node_class)
            if self.inside is not None:
                put_inside(self, *self.inside)
        return self._program

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
        """Call an op with any number of inputs or results."""
        args, options = self._bound(args, options)
        names = [self.variadic] * len(args) if self.variadic else self.inputs
        inputs = tuple(
            a if isinstance(a, Tensor) or (a is None and n in self.optional) else as_operand(a, self.name, i, n)
            for i, (a, n) in enumerate(zip(args, names, strict=True))
        )
        for t in inputs if recording() else ():
            if t is not None and t._view is not None:
                t._view.refresh(t)
        arrays = [None if t is None else t._data for t in inputs]
        if self.promotes:
            check_broadcast(*inputs)
            arrays = list(brought_together(*inputs))
        if self.real_only and arrays[0] is not None and arrays[0].dtype.kind == "c":
            refuse_complex(self.name, arrays[0])
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
        """The tensor arguments in order, and all options. Positional arguments after the tensors are options, in order."""
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
        """The saved values that the rules ask for. See Note [When a tensor is saved]."""
        if self.savers is None:
            self.savers = tuple(map(self._saver, self.saved_names))
        for save, guard, slot in zip(self.savers, self.guards, self.slots, strict=True):
            unwanted = guard is not None and node._next[guard] is None
            setattr(node, slot, save(inputs, options, results, unwanted))

    def _saver(self, name: str) -> Callable[..., Any]:
        """The function that picks the value `name` from the inputs, options and results of a call."""
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


def put_inside(p: Any, function: Any, method: str, test: str) -> None:
    """Put the op's program, for arguments that pass `test`, inside a method of Tensor that nobody has replaced."""
    if Tensor.__dict__[method] is not function:
        return
    lines = [f"def {function.__name__}(*args, **options):"]
    lines += [f"    if options or len(args) != {len(p.inputs)}: return otherwise(*args, **options)"]
    lines += [f"    {', '.join(p.inputs)}, = args", f"    if not ({test}): return otherwise(*args)"]
    lines += [*(f"    {n} = default_{n}" for n in p.options), *call.call_source(p)[1:]]
    program = call.compiled(p.forward, function.__name__, lines, {**p.program.__globals__, "otherwise": function})
    setattr(Tensor, method, update_wrapper(program, function))


# ops that are not elementwise, but whose NumPy functions keep the memory order of the input: PyTorch's results are row-major
_ROW_MAJOR = """
all_dims amax_dims amin_dims aminmax_dim any_dims cat_tensors count_nonzero_dims cummax_dim cummin_dim cumprod_dim cumsum_dim
kthvalue_dim layer_normalization log_softmax_dim logcumsumexp_dim logsumexp_dims masked_fill_scalar masked_fill_tensor
masked_scatter_values max_dim mean_dim median_dim min_dim mode_dim nanmedian_dim nansum_dim norm_dims prod_dim repeat_dims
roll_dims rot90_dims rpow_scalar safe_softmax_dim softmax_dim stack_tensors std_dims std_mean_dims sum_dim topk_dim tril triu
var_dims var_mean_dims vector_norm_dims
""".split()  # noqa: SIM905 -- the names as words


def _row_major(forward: Callable[..., Any]) -> Callable[..., Any]:
    """The forward of such an op, with a row-major result."""

    @wraps(forward)
    def in_rows(*arrays: Any, **options: Any) -> Any:
        out = forward(*arrays, **options)
        if type(out) is tuple:
            return tuple(np.asarray(o, order="C") for o in out)
        return out if out.flags.c_contiguous else np.asarray(out, order="C")

    return in_rows


def primitive(node_name: str = "", *, written: Callable[..., Symbol] | None = None, **traits: Any) -> Callable[..., Primitive]:
    """Declare an op. `node_name` is that of its backward node in PyTorch, written out; empty if it is not differentiable.

    `written` is the op's text in a formula, as a rule on Symbols; default: a call of its name. The others are `Traits`.
    """

    def decorate(forward: Callable[..., Any]) -> Primitive:
        forward = _row_major(forward) if forward.__name__ in _ROW_MAJOR else forward
        p = Primitive(forward, node_name, Traits(**traits))
        shown = re.sub(r"_(dims?|all|sizes|scalar|tensors?)$", "", p.name)
        declare(forward, forward, p, as_reading(written) if written else writer(shown))
        return p

    return decorate
