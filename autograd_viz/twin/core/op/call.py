"""What a call of an op does, written out for each op: `mul.source` is the program that runs for `a * b`.

# Note [Programs from tables]
A general loop over inputs, options and saved values would take longer than the arithmetic of a small tensor.
So each op's table (table.py) is turned into straight-line functions:
- `call` runs the forward and records the node;
- `vjp` runs the rules;
- `release` frees the saved tensors;
- `pass_on` does both for the engine's loop, and brings the results to the receivers' shapes and types.
All are plain Python, and tracebacks show their lines.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from ..backward.accumulate_grad import accumulator
from ..backward.instrumentation import attend
from ..backward.saved import SavedResult, keep, keep_option
from ..base import provenance
from ..base.dtypes import promote
from ..base.grad_mode import State, recording, sequence
from ..base.quiet import quiet
from ..tensor import Tensor, brought_together, check_broadcast, fitted, scalar_type
from ..tensor.arguments import TENSOR_OPTIONS, array_of, as_operand, in_order_of
from ..tensor.number import Number
from .real_only import REAL_ONLY, refuse_complex
from .table import Table
from .view import become_view

PLAIN = frozenset({int, float, bool, str, type(None)})  # types of options that cannot hold a tensor
_IF_REAL = " if _x0.dtype.kind != 'c' else refuse_complex(primitive.name, _x0)"
# ops whose number may be complex although the tensors are real: the result is complex, or they refuse it themselves
_OF_COMPLEX = """
add sub rsub_tensor rsub_scalar add_scalar sub_scalar mul_scalar div_scalar pow_scalar rpow_scalar fill_scalar refill_scalar
masked_fill_scalar
""".split()  # noqa: SIM905 -- the names as words


def compiled(forward: Callable[..., Any], name: str, lines: list[str], names: dict[str, Any]) -> Any:
    """The function that `lines` define for an op. Tracebacks and `inspect` find its text."""
    text, file = "\n".join(lines) + "\n", f"{provenance.PROGRAM}{forward.__name__}: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = dict(names)
    exec(compile(text, file, "exec"), namespace)
    function = namespace[name]
    function.__doc__, function.__module__, function.__qualname__ = forward.__doc__, forward.__module__, name
    return function


def option_text(p: Table, name: str) -> str:
    """The expression for an option in the form that the forward needs."""
    if name in TENSOR_OPTIONS and not p.name.startswith("select"):
        place = len(p.inputs) + list(p.options).index(name)
        return f"({name} if isinstance({name}, Tensor) else operand({name}, {p.name!r}, {place}, {name!r}))._data"
    return f"{name} if type({name}) in PLAIN else option_of({name}, _x0, {p.name!r})"


def option_of(value: Any, array: Any, op: str) -> Any:
    """An option in the form that the forward needs. With a real `array`, few ops take a complex number."""
    if type(value) is not complex or array.dtype.kind == "c" or op in _OF_COMPLEX:
        return array_of(value)
    if op in REAL_ONLY and re.search("scalar|number", op):
        refuse_complex(op, np.empty(0, promote([(array.dtype, 1, False), (np.dtype(complex), 0, True)])))
    return fitted(value, array.dtype).item()


def has_gradient(result: Any, op: str) -> bool:
    """Has a result of this type a gradient? A cast may give integers; other ops with a `dtype` must not."""
    if op == "nan_to_num" and result.dtype.kind == "c":
        raise RuntimeError("nan_to_num does not support automatic differentiation for outputs with complex dtype.")
    if result.dtype.kind not in "fc" and op not in ("to_copy", "copy_into", "view_bits"):
        raise RuntimeError(f"Autograd not support dtype: {scalar_type(result)}")
    return result.dtype.kind in "fc"


_UNDER_THEIR_NAMES: tuple[Any, ...] = (
    Number, SavedResult, Tensor, accumulator, attend, become_view, brought_together, check_broadcast, has_gradient, in_order_of,
    keep, keep_option, np.asarray, np.ndarray, option_of, provenance.is_ours, provenance.untracked, provenance.users_frame,
    refuse_complex,
)  # fmt: skip
_NAMES: dict[str, Any] = {x.__name__: x for x in _UNDER_THEIR_NAMES} | {  # the globals of the programs
    "NUMBERS": frozenset({int, float, bool}), "PLAIN": PLAIN, "State": State, "frame": sys._getframe, "new": object.__new__,
    "operand": as_operand, "ours": provenance.ours, "quiet": quiet, "recording": recording, "ref": ref, "sequence": sequence,
    "theirs": provenance.theirs,
}  # fmt: skip


def call_source(p: Table) -> list[str]:
    """The program of a call, for an op with a fixed number of inputs and results."""
    parameters = [n + ("=None" if n in p.optional else "") for n in p.inputs]
    options = [n + ("" if default is p.required else f"=default_{n}") for n, default in p.options.items()]
    if any("=" in x for x in parameters):  # parameters after an optional input need a default
        options = [o if "=" in o else f"{o}=None" for o in options]
    lines = [f"def {p.name}({', '.join(parameters + _after_required(options))}):"]
    for i, n in enumerate(p.inputs):
        there = f"{n} is not None and " if n in p.optional else ""
        lines.append(f"    if {there}type({n}) is not Tensor and not isinstance({n}, Tensor):")
        if i == 1 and p.scalar_overload is not None:
            given = ", ".join([p.inputs[0], f"other={n}", *(f"{o}={o}" for o in p.options if o in p.scalar_overload.options)])
            lines.append(f"        if State.in_rule and type({n}) in NUMBERS: return scalar_overload({given})")
        lines.append(f"        {n} = operand({n}, {p.name!r}, {i}, {n!r})")
        if p.rules and n not in p.optional:
            lines.append(f"    if {n}._view is not None and recording(): {n}._view.refresh({n})")
    results = results_of(p)
    lines += [*_forward(p), *_wrapped(p), "    if not recording():"]
    if p.result_names:
        lines.append(f"        {' = '.join(f'{r}._made_by' for r in results)} = None")
        lines += ["        if State.attentive:", *(f"            attend(None, {r})" for r in results)]
        made = f"make_results({', '.join(results)})"
        return [*lines, f"        return {made}", *_record(p), f"    return {made}"]
    lines += [*_no_node("        ", "None"), "        return attend(None, result) if State.attentive else result"]
    return [*lines, *_record(p), "    return result"]


def results_of(p: Table) -> list[str]:
    """The variables for the results of an op in its program."""
    return [f"result{i}" for i in range(len(p.result_names))] or ["result"]


def _wrapped(p: Table) -> list[str]:
    """The lines that wrap the results of the NumPy function in tensors."""
    lines = []
    if p.result_names:
        lines.append(f"    {', '.join(f'_value{i}' for i in range(len(p.result_names)))}, = _value")
    for result in results_of(p):
        value, data = result.replace("result", "_value"), result.replace("result", "_data")
        is_array = "" if p.promotes else f" if type({value}) is ndarray else asarray({value})"
        lines += [f"    {result} = new(Tensor)", f"    {result}._data = {data} = {value}{is_array}"]
        lines += [f"    {result}._grad = {result}._view = {result}._extra = {result}._counter = None"]
        no_node = [f"    {result}._node, {result}._requires_grad = None, False"] if p.result_names else []
        lines += [f"    {result}._output_nr = 0", *no_node]
    if p.view:
        lines.append(f"    become_view(result, {p.inputs[0]}, primitive, {_options(p)})")
    return lines


def _no_node(indent: str, made_by: str) -> list[str]:
    """The lines for the only result of an op, if it has no node."""
    return [f"{indent}result._node, result._requires_grad = None, False", f"{indent}result._made_by = {made_by}"]


def _options(p: Table) -> str:
    """The options of a call as a dictionary."""
    return "{" + ", ".join(f"{n!r}: {n}" for n in p.options) + "}"


def _after_required(options: list[str]) -> list[str]:
    """The options, with a `*` before a required one that follows an optional one."""
    first = next((i for i, o in enumerate(options) if "=" in o), len(options))
    if all("=" in o for o in options[first:]):
        return options
    return [*options[:first], "*", *options[first:]]


def _forward(p: Table) -> list[str]:
    """The lines that run the NumPy function on the inputs' arrays."""
    arrays = [f"_x{i}" for i in range(len(p.inputs))]
    given = ", ".join(arrays + [f"{n}={option_text(p, n)}" for n in p.options])
    run = f"_value = {_usual(p, arrays)}{'on_arrays(' if p.view else 'quiet.run(on_arrays, '}{given})" + _IF_REAL * p.real_only
    lines = [f"    _x0 = {p.inputs[0]}._data"]
    for x, n in zip(arrays[1:], p.inputs[1:], strict=True):
        lines.append(f"    {x} = {n}._data" + (f" if {n} is not None else None" if n in p.optional else ""))
    if not p.promotes:
        return [*lines, f"    {run}"]
    if len(arrays) == 2:  # a Python number stays one, so that it does not widen the result
        second = p.inputs[1]
        is_number = f"type({second}) is Number and _x0.dtype.kind == 'f' and type({second}.value) is not complex"
        lines[1:] = [f"    if {is_number}:", f"        _x1 = {second}.value", "        if not _x0.ndim: _x0 = _x0[()]"]
        lines += ["    else:", f"        _x1 = {second}._data"]
        indent = "        "
    else:
        indent = "    "
    there = [f"{x} is not None and " if n in p.optional else "" for x, n in zip(arrays, p.inputs, strict=True)]
    test = " or ".join(f"{t}{x}.dtype is not _x0.dtype" for t, x in zip(there[1:], arrays[1:], strict=True)) or "False"
    lines.append(f"{indent}if {test}: {', '.join(arrays)}, = brought_together({', '.join(p.inputs)})")
    numbers = (f"{x} = {x}[()]" + (f" if {x} is not None else None" if t else "") for x, t in zip(arrays, there, strict=True))
    lines.append(f"{indent}elif not _x0.ndim: {'; '.join(numbers)}")
    lines += ["    try:", f"        {run}", "    except ValueError:"]
    lines += [f"        check_broadcast({', '.join(p.inputs)})", "        raise"]
    laid_out = f"_value = in_order_of(_value, {', '.join(arrays)})"
    lines += ["    if type(_value) is not ndarray: _value = asarray(_value)"]
    return [*lines, f"    elif _value.ndim > 1 and not _x0.flags.c_contiguous: {laid_out}"]


def _usual(p: Table, arrays: list[str]) -> str:
    """The first half of an expression: a C function computes the value while each option has its default."""
    test = " and ".join(["usual", *(f"{n} is default_{n}" for n in p.options)])
    return "" if p.usual is None else f"quiet.run(usual, {', '.join(arrays)}) if {test} else "


def _record(p: Table) -> list[str]:
    """The lines that make the node if an input requires grad, and remember which op made the result."""
    lines = ["    caller = frame(1)", "    code = caller.f_code"]
    lines += ["    if (file := code.co_filename) not in theirs and (file in ours or is_ours(file)):"]
    lines += ["        caller = users_frame(caller)", "        code = caller.f_code"]
    indent, results = "    ", results_of(p)
    if p.rules:
        tests = [f"({n} is not None and {n}.requires_grad)" if n in p.optional else f"{n}._requires_grad" for n in p.inputs]
        may_have_none = p.may_be_integer and not p.result_names
        has_gradient = f" and (_data.dtype.kind == 'f' or has_gradient(_data, {p.name!r}))" if may_have_none else ""
        if p.result_names:
            gradients = [r for r, name in zip(results, p.result_names, strict=True) if name not in p.nondifferentiable]
            lines.append(f"    outputs = [r for r in ({', '.join(gradients)},) if r._data.dtype.kind in 'fc']")
            has_gradient = " and outputs"
        lines.append(f"    if ({' or '.join(tests)}){has_gradient}:")
        lines += ["        " + line for line in _node(p)]
        lines.append("    else:")
        indent = "        "
    made = f"untracked({p.title!r}, ({', '.join(p.inputs)},), {_options(p) if p.options else None}, caller)"
    if p.result_names:
        lines.append(f"{indent}{' = '.join(f'{r}._made_by' for r in results)} = {made}")
    else:
        lines += _no_node(indent, made)
    if len(results) > 1:
        lines.append(f"{indent}{results[0]}._made_by.outputs = {_references(results)}")
    return [*lines, f"{indent}if State.attentive: {'; '.join(f'attend(None, {r})' for r in results)}"]


def _references(results: list[str]) -> str:
    return "(" + ", ".join(f"ref({r})" for r in results) + ")"


def _node(p: Table) -> list[str]:
    """The lines that make the node: edges, metadata, saved values."""
    edges = []
    for n in p.inputs:
        there = f"{n} is not None and " if n in p.optional else ""
        edges.append(f"(({n}._node or accumulator({n})) if {there}{n}._requires_grad else None)")
    numbers = [f"({n}._output_nr if {n} is not None else 0)" if n in p.optional else f"{n}._output_nr" for n in p.inputs]
    zeros = (0,) * len(p.inputs)
    lines = ["node = Node()", f"node._next = ({', '.join(edges)},)"]
    lines += [f"node._index = ({', '.join(numbers)},) if {' or '.join(numbers)} else {zeros}"]
    lines += ["node._others = node._extra = node._passed = node._results = None"]
    lines += _several_outputs(p) if p.result_names else _ONE_OUTPUT
    lines += ["node._sequence = next(sequence)", *(f"node.arg_{n} = {n}" for n in (*p.inputs, *p.options))]
    lines += ["node._code = code", "node._lasti = caller.f_lasti"]
    for name, guard, slot in zip(p.saved_names, p.guards, p.slots, strict=True):
        lines.append(f"node.{slot} = {_saved(p, name, guard)}")
    return [*lines, f"if State.attentive: attend(node, {results_of(p)[0]})"]


# of an input's array x; strides stay in bytes until they are read
_METADATA = {"sizes": "{x}.shape", "numel": "{x}.size", "strides": "{x}.strides"}

_ONE_OUTPUT = ["node._shape = _data.shape", "node._dtype = _data.dtype"]
_ONE_OUTPUT += ["result._node = result._made_by = node", "result._requires_grad = True"]


def _several_outputs(p: Table) -> list[str]:
    """The lines with the metadata of the outputs: the results that have a gradient."""
    results = results_of(p)
    return [
        "node._shape, node._dtype = outputs[0]._data.shape, outputs[0]._data.dtype",
        "if len(outputs) > 1: node._others = tuple([(r._data.shape, r._data.dtype) for r in outputs[1:]])",
        *([f"node._results = {_references(results)}"] if len(results) > 1 else []),
        f"{' = '.join(f'{r}._made_by' for r in results)} = node",
        "for _i, _r in enumerate(outputs): _r._node, _r._output_nr, _r._requires_grad = node, _i, True",
    ]


def _saved(p: Table, name: str, guard: int | None) -> str:
    """The expression for one saved value."""
    if name in p.options:
        return f"{name} if type({name}) in PLAIN else keep_option({name})"
    wanted = "True" if guard is None else f"node._next[{guard}] is not None"
    if (index := p.result_index(name)) is not None:
        result = results_of(p)[index]
        return f"SavedResult({result})" if guard is None else f"SavedResult({result}) if {wanted} else None"
    if name in p.inputs:
        untouched = f"{name} is None or {name}._counter is None" if name in p.optional else f"{name}._counter is None"
        kept = f"({name} if {untouched} else keep({name}))"
        return kept if guard is None else f"{kept} if {wanted} else None"
    base, what = p.metadata_name(name)
    if base in p.result_names:
        base = results_of(p)[p.result_names.index(base)]
    elif what in _METADATA and base not in p.optional:
        return _METADATA[what].format(x=f"_x{p.inputs.index(base)}")
    return f"metadata({base}, {what!r})"


def program(p: Table, node_class: Any) -> Any:
    """The function that runs the op and records it. `node_class` is the class of its nodes, None for an op without rules."""
    defaults = {f"default_{n}": v for n, v in p.options.items() if v is not p.required}
    names = {**_NAMES, **defaults, "on_arrays": p.forward, "primitive": p, "Node": node_class, "metadata": metadata}
    names |= {"scalar_overload": p.scalar_overload, "make_results": p.make_results, "usual": p.usual}
    names |= {"brought_together": p.promotes} if callable(p.promotes) else {}
    return compiled(p.forward, p.name, call_source(p), names)


def metadata(tensor: Tensor | None, what: str) -> Any:
    """`<input>_sym_sizes` and similar values; strides in bytes."""
    if tensor is None:
        return None
    array = tensor._data
    if what == "storage_offset":
        return tensor.storage_offset()
    if what.startswith("argsize_"):
        return array.shape[int(what.removeprefix("argsize_").replace("minus_", "-"))]
    return {"dim": array.ndim, "strides": array.strides, "numel": array.size}.get(what, array.shape)
