"""What calling an op does, written out for each op: `mul.source` is the program that runs when you write `a * b`.

# Note [Programs from tables]
A general loop over inputs, options and saved values would cost more than the arithmetic of a small tensor. So each op's table
(primitive.py) is turned into straight-line functions: `call` runs the forward and records the node, `vjp` runs the rules,
`release` frees what was saved. All are plain Python; tracebacks show their lines.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from . import provenance
from .accumulate_grad import accumulator
from .arguments import array_of, as_operand, brought_together, check_broadcast
from .attention import attend
from .grad_mode import State, sequence
from .node import PrimitiveNode
from .quiet import quiet
from .saved import FREED, SavedResult, holds_tensor, keep, keep_option, plain, unpack
from .tensor import Number, Tensor
from .view import become_view

if TYPE_CHECKING:
    from .primitive import Primitive

_PLAIN = frozenset({int, float, bool, str, type(None)})
_NUMBERS = frozenset({int, float, bool})
# what the programs refer to, beside their own op
_NAMES: dict[str, Any] = {
    "FREED": FREED,
    "NUMBERS": _NUMBERS,
    "Number": Number,
    "PLAIN": _PLAIN,
    "SavedResult": SavedResult,
    "State": State,
    "Tensor": Tensor,
    "accumulator": accumulator,
    "array_of": array_of,
    "asarray": np.asarray,
    "attend": attend,
    "become_view": become_view,
    "brought_together": brought_together,
    "check_broadcast": check_broadcast,
    "frame": sys._getframe,
    "holds_tensor": holds_tensor,
    "keep": keep,
    "keep_option": keep_option,
    "ndarray": np.ndarray,
    "new": object.__new__,
    "operand": as_operand,
    "ours": provenance.ours,
    "plain": plain,
    "quiet": quiet,
    "sequence": sequence,
    "unpack": unpack,
    "untracked": provenance.untracked,
}


def compiled(p: Primitive, name: str, lines: list[str], names: dict[str, Any]) -> Any:
    """The function that `lines` define, with its text where tracebacks and `inspect` look for it."""
    text = "\n".join(lines) + "\n"
    file = f"<autograd_viz op {p.name}: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {**_NAMES, **names}
    exec(compile(text, file, "exec"), namespace)
    function = namespace[name]
    function.__doc__ = p.__doc__
    function.__qualname__ = name
    function.__module__ = p.forward.__module__
    return function


# -- forward ----------------------------------------------------------------------------------------------------------


def call_source(p: Primitive) -> list[str]:
    """The program of a call, for an op with a fixed number of inputs and one result."""
    parameters = [n + ("=None" if n in p.optional else "") for n in p.inputs]
    options = [n + ("" if default is p.required else f"=default_{n}") for n, default in p.options.items()]
    if any("=" in x for x in parameters):  # after an optional input everything has a default
        options = [o if "=" in o else f"{o}=None" for o in options]
    lines = [f"def {p.name}({', '.join(parameters + _after_required(options))}):"]
    for i, n in enumerate(p.inputs):
        there = f"{n} is not None and " if n in p.optional else ""
        lines.append(
            f"    if {there}type({n}) is not Tensor and not isinstance({n}, Tensor): {n} = operand({n}, {p.name!r}, {i})"
        )
        if i == 1 and p.scalar_overload is not None:
            given = ", ".join([p.inputs[0], f"other={n}", *(f"{o}={o}" for o in p.options if o in p.scalar_overload.options)])
            lines.insert(-1, f"    if State.in_rule and type({n}) in NUMBERS: return scalar_overload({given})")
        if p.node_class is not None and n not in p.optional:
            lines.append(f"    if {n}._view is not None and State.enabled: {n}._view.refresh({n})")
    lines += _forward(p)
    lines += ["    result = new(Tensor)", "    result._data = _data = _value if type(_value) is ndarray else asarray(_value)"]
    lines += ["    result._grad = result._grad_fn = result._view = result._made_by = result._extra = None"]
    lines += ["    result._counter = None", "    result._requires_grad = False", "    result._output_nr = 0"]
    if p.view:
        given = ", ".join(f"{n!r}: {n}" for n in p.options)
        lines.append(f"    become_view(result, {p.inputs[0]}, primitive, {{{given}}})")
    lines += ["    if not State.enabled:", "        return attend(None, result) if State.attentive else result"]
    lines += _record(p)
    return [*lines, "    return result"]


def _after_required(options: list[str]) -> list[str]:
    """Options without a default after one with a default are given by keyword."""
    first = next((i for i, o in enumerate(options) if "=" in o), len(options))
    if all("=" in o for o in options[first:]):
        return options
    return [*options[:first], "*", *options[first:]]


def _forward(p: Primitive) -> list[str]:
    """Run the NumPy function on the inputs' arrays."""
    arrays = [f"_x{i}" for i in range(len(p.inputs))]
    options = [f"{n}={n} if type({n}) in PLAIN else array_of({n})" for n in p.options]
    run = f"_value = quiet.run(on_arrays, {', '.join(arrays + options)})"
    lines = [f"    _x0 = {p.inputs[0]}._data"]
    for x, n in zip(arrays[1:], p.inputs[1:], strict=True):
        lines.append(f"    {x} = {n}._data" + (f" if {n} is not None else None" if n in p.optional else ""))
    if not p.promotes:
        return [*lines, f"    {run}"]
    if len(arrays) == 2:  # a number beside floats stays one, and so does not widen the result
        lines[1:] = [
            f"    if type({p.inputs[1]}) is Number and _x0.dtype.kind == 'f' and type({p.inputs[1]}.value) is not complex:"
        ]
        lines += [
            f"        _x1 = {p.inputs[1]}.value",
            "        if not _x0.shape: _x0 = _x0[()]",
            "    else:",
            f"        _x1 = {p.inputs[1]}._data",
        ]
        indent = "        "
    else:
        indent = "    "
    there = [f"{x} is not None and " if n in p.optional else "" for x, n in zip(arrays, p.inputs, strict=True)]
    test = " or ".join(f"{t}{x}.dtype is not _x0.dtype" for t, x in zip(there[1:], arrays[1:], strict=True)) or "False"
    lines.append(f"{indent}if {test}: {', '.join(arrays)}, = brought_together({', '.join(p.inputs)})")
    numbers = (f"{x} = {x}[()]" + (f" if {x} is not None else None" if t else "") for x, t in zip(arrays, there, strict=True))
    lines.append(f"{indent}elif not _x0.shape: {'; '.join(numbers)}")
    lines += ["    try:", f"        {run}", "    except ValueError:"]
    return [*lines, f"        check_broadcast({', '.join(p.inputs)})", "        raise"]


def _record(p: Primitive) -> list[str]:
    """Make the node if an input requires grad, and remember which op made the result."""
    lines = [
        "    caller = frame(1)",
        "    while ours[caller.f_code.co_filename] and caller.f_back is not None: caller = caller.f_back",
    ]
    indent = "    "
    if p.node_class is not None:
        tests = [f"({n} is not None and {n}.requires_grad)" if n in p.optional else f"{n}._requires_grad" for n in p.inputs]
        float_result = " and _data.dtype.kind in 'fc'" if p.may_be_integer else ""
        lines.append(f"    if ({' or '.join(tests)}){float_result}:")
        lines += ["        " + line for line in _node(p)]
        lines.append("    else:")
        indent = "        "
    given = ", ".join(_given(p))
    lines.append(f"{indent}result._made_by = untracked({p.title!r}, ({given}), {_option_dict(p)}, caller)")
    lines.append(f"{indent}if State.attentive: attend(None, result)")
    return lines


def _given(p: Primitive) -> list[str]:
    """The tensors of a call as entries of a tuple: inputs (also None ones, which a drawing leaves out), then tensor options."""
    return [f"{n}," for n in p.inputs] if len(p.inputs) == 1 else list(p.inputs)


def _option_dict(p: Primitive) -> str:
    return "{" + ", ".join(f"{n!r}: {n}" for n in p.options) + "}" if p.options else "None"


def _node(p: Primitive) -> list[str]:
    """Make the node: edges, metadata, saved values."""
    edges = []
    for n in p.inputs:
        there = f"{n} is not None and " if n in p.optional else ""
        edges.append(f"(({n}._grad_fn or accumulator({n})) if {there}{n}._requires_grad else None)")
    numbers = [f"({n}._output_nr if {n} is not None else 0)" if n in p.optional else f"{n}._output_nr" for n in p.inputs]
    zeros = (0,) * len(p.inputs)
    lines = [
        "node = Node()",
        f"node._next = ({', '.join(edges)},)",
        f"node._index = ({', '.join(numbers)},) if {' or '.join(numbers)} else {zeros}",
        "node._shape = _data.shape",
        "node._dtype = _data.dtype",
        "node._others = node._extra = node._passed = node._results = None",
        "node._sequence = next(sequence)",
        *(f"node.given_{n} = {n}" for n in (*p.inputs, *p.options)),
        "node._code = caller.f_code",
        "node._lasti = caller.f_lasti",
        "result._grad_fn = result._made_by = node",
        "result._requires_grad = True",
    ]
    for name, guard, slot in zip(p.saved_names, p.guards, p.slots, strict=True):
        lines.append(f"node.{slot} = {_kept(p, name, guard)}")
    return [*lines, "if State.attentive: attend(node, result)"]


def _kept(p: Primitive, name: str, guard: int | None) -> str:
    """The expression for one saved value."""
    if name in p.options:
        return f"{name} if type({name}) in PLAIN else keep_option({name})"
    wanted = "True" if guard is None else f"node._next[{guard}] is not None"
    if p.result_index(name) is not None:
        return "SavedResult(result)" if guard is None else f"SavedResult(result) if {wanted} else None"
    if name in p.inputs:
        untouched = f"{name} is None or {name}._counter is None" if name in p.optional else f"{name}._counter is None"
        kept = f"({name} if {untouched} else keep({name}))"
        return kept if guard is None else f"{kept} if {wanted} else None"
    base, what = p.metadata_name(name)
    return (
        {"sizes": f"_x{p.inputs.index(base)}.shape", "numel": f"_x{p.inputs.index(base)}.size"}.get(
            what, f"metadata({base}, {what!r})"
        )
        if base not in p.optional
        else f"metadata({base}, {what!r})"
    )


# -- backward ---------------------------------------------------------------------------------------------------------


def vjp_source(p: Primitive, on_tensors: bool = False) -> list[str]:
    """The program of the rules, on arrays or tensors: for every input that wants a gradient, its rule on what is saved."""
    read = _read_tensor if on_tensors else _read
    nothing = f"({'None, ' * (1 if p.variadic else len(p.rules))})"
    lines = [f"def vjp{'_on_tensors' if on_tensors else ''}(node, grads):"]
    if p.takes_all:
        lines += [f"    if all(g is None for g in grads): return {'(None,) * len(node._next)' if p.variadic else nothing}"]
        lines += ["    grad = materialized(node, grads)" if p.materialize else "    grad = grads"]
    else:
        lines += [
            "    grad = grads[0]",
            f"    if grad is None: return {'(None,) * len(node._next)' if p.variadic else nothing}",
        ]
    results = []
    for i, rule in enumerate(p.rules):
        if rule is None:
            results.append("None")
            continue
        call = f"rule{i}(grad{''.join(', ' + read(p, place) for place in rule.wants)})"
        if p.variadic:
            return [*lines, f"    return tuple({call})"]
        results.append(call if len(p.rules) == 1 else f"{call} if node._next[{i}] is not None else None")
    return [*lines, f"    return ({', '.join(results)},)"]


def _read(p: Primitive, place: int) -> str:
    """A saved value as an array or plain value."""
    name, slot = p.saved_names[place], f"node.{p.slots[place]}"
    if name in p.inputs:
        untouched = f"type(s := {slot}) is Tensor and s._counter is None"
        return f"((d if (d := s._data).shape else d[()]) if {untouched} else plain(node, s))"
    if "_sym_" in name:
        return slot
    if p.result_index(name) is not None:
        untouched = f"(s := {slot}) is not FREED and s.version == s.counter[0] and s.unpack_hook is None"
        return f"(s.data if {untouched} else plain(node, s))"
    return f"(s if type(s := {slot}) in PLAIN else plain(node, s))"


def _read_tensor(p: Primitive, place: int) -> str:
    """A saved value as a tensor or plain value."""
    slot = f"node.{p.slots[place]}"
    if p.saved_names[place] in p.inputs:
        return f"(s if type(s := {slot}) is Tensor and s._counter is None else unpack(node, s))"
    return slot if "_sym_" in p.saved_names[place] else f"(s if type(s := {slot}) in PLAIN else unpack(node, s))"


def release_source(p: Primitive) -> list[str]:
    """Free the saved tensors; plain values (a dim, an exponent) stay."""
    lines = ["def _release(node):", "    pass"]
    for name, slot in zip(p.saved_names, p.slots, strict=True):
        if "_sym_" in name:
            continue
        if name in p.inputs or p.result_index(name) is not None:
            lines.append(f"    if node.{slot} is not None: node.{slot} = FREED")
        else:
            lines.append(f"    if type(s := node.{slot}) not in PLAIN and holds_tensor(s): node.{slot} = FREED")
    return lines


def make_node_class(p: Primitive) -> type[PrimitiveNode]:
    """The backward node's class: PyTorch's name, slots for arguments and saved values, `_saved_<name>` properties."""

    def saved_property(index: int) -> property:
        return property(lambda node: node.unpack(index))

    def raw_property(index: int) -> property:
        return property(lambda node: node.raw_saved(index))

    body: dict[str, Any] = {f"_saved_{n}": saved_property(i) for i, n in enumerate(p.saved_names) if not n.startswith("_")}
    tensors = [i for i, n in enumerate(p.saved_names) if n in p.inputs or p.result_index(n) is not None]
    body |= {f"_raw_saved_{p.saved_names[i]}": raw_property(i) for i in tensors}
    if "::" in p.node_name:
        body["name"] = lambda node: p.node_name
    given = tuple(f"given_{n}" for n in ([p.variadic] if p.variadic else p.inputs) + [*p.options])
    body["__init__"] = object.__init__  # whoever makes a node fills its slots
    body |= {"__slots__": given + p.slots, "slots": p.slots, "primitive": p, "__doc__": f"Backward of {p.name}."}
    return type(p.node_name.rpartition("::")[2], (PrimitiveNode,), body)
