"""The class of an op's backward nodes: PyTorch's name, slots, and programs (see Note [Programs from tables] in call.py)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..backward.gradients import validate_output
from ..backward.saved import FREED, holds_tensor, plain, unpack
from ..tensor.tensor import Tensor
from .call import PLAIN, compiled
from .primitive_node import PrimitiveNode
from .table import Table


def materialized(node: PrimitiveNode, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients, with zeros for unused outputs."""
    on_tensors = any(isinstance(g, Tensor) for g in grads)
    zeros = (np.zeros(shape, kind) for shape, kind in node._outputs_metadata())
    return tuple((Tensor(z) if on_tensors else z) if g is None else g for g, z in zip(grads, zeros, strict=True))


_NAMES: dict[str, Any] = {  # the globals of the programs
    "FREED": FREED, "PLAIN": PLAIN, "PrimitiveNode": PrimitiveNode, "Tensor": Tensor, "holds_tensor": holds_tensor,
    "materialized": materialized, "plain": plain, "unpack": unpack, "validate_output": validate_output,
}  # fmt: skip


def make_node_class(p: Table) -> type[PrimitiveNode]:
    """The backward node's class: PyTorch's name, slots for arguments and saved values, `_saved_<name>` properties."""
    body: dict[str, Any] = {}
    for i, n in enumerate(p.saved_names):
        if not n.startswith("_"):
            body[f"_saved_{n}"] = property(partial(PrimitiveNode.unpack, index=i))
        if n in (*p.inputs, *p.options) or p.result_index(n) is not None:
            body[f"_raw_saved_{n}"] = property(partial(PrimitiveNode.raw_saved, index=i))
    if "::" in p.node_name:
        body["name"] = lambda node: p.node_name
    if p.node_name.endswith("NotImplemented"):  # it has an edge only for an input that requires grad
        body["next_functions"] = property(
            lambda node: tuple((n, i) for n, i in zip(node._next, node._index, strict=True) if n is not None)
        )
    arguments = tuple(f"arg_{n}" for n in ([p.variadic] if p.variadic else p.inputs))
    options = tuple((n, f"arg_{n}") for n in p.options)
    body |= {"argument_slots": arguments, "is_variadic": bool(p.variadic), "option_slots": options, "slots": p.slots}
    body |= {"saved_names": p.saved_names, "strided": tuple(n for n in p.saved_names if n.endswith("_strides"))}
    body["__init__"] = object.__init__  # the maker of a node fills its slots
    slots = (*arguments, *(slot for _, slot in options), *p.slots)
    body |= {"__slots__": slots, "primitive": p, "__doc__": f"Backward of {p.name}."}
    return type(p.node_name.rpartition("::")[2], (PrimitiveNode,), body)


def write_backward(p: Table, node_class: Any) -> None:
    """Give the node class its `vjp`, `vjp_on_tensors`, `_release` and `pass_on`. It is called at their first use."""
    on_arrays = {f"rule{i}": r.on_arrays for i, r in enumerate(p.rules) if r}
    on_tensors = {f"rule{i}": r.on_tensors for i, r in enumerate(p.rules) if r}
    for name, lines, rules in (
        ("vjp", vjp_source(p), on_arrays),
        ("vjp_on_tensors", vjp_source(p, on_tensors=True), on_tensors),
        ("_release", release_source(p), {}),
        *([] if p.takes_all or p.variadic else [("pass_on", pass_on_source(p), on_arrays)]),
    ):
        setattr(node_class, name, compiled(p.forward, name, lines, {**_NAMES, **rules}))


def vjp_source(p: Table, on_tensors: bool = False) -> list[str]:
    """The program of the rules, on arrays or tensors. It runs the rule of each input that wants a gradient."""
    nothing = "(None,) * len(node._next)" if p.variadic else f"({'None, ' * len(p.rules)})"
    lines = [f"def vjp{'_on_tensors' if on_tensors else ''}(node, grads, wanted=None):"]
    if p.takes_all:
        lines += [f"    if all(g is None for g in grads): return {nothing}"]
        lines += ["    grad = materialized(node, grads)" if p.materialize else "    grad = grads"]
    else:
        lines += ["    grad = grads[0]", f"    if grad is None: return {nothing}"]
    return [*lines, *_rules(p, on_tensors), f"    return {'r0' if p.variadic else _results(p)}"]


def pass_on_source(p: Table) -> list[str]:
    """The program of the engine's loop: the rules on arrays, what the receivers get, and the saved tensors freed."""
    lines = ["def pass_on(node, grads, wanted, keep_graph):", "    grad = grads[0]"]
    lines += ["    if grad is None: return PrimitiveNode.pass_on(node, grads, wanted, keep_graph)", *_rules(p, False)]
    for i, rule in enumerate(p.rules):
        if rule is not None:
            differs = f"r{i}.shape != next{i}._shape or r{i}.dtype is not next{i}._dtype or node._index[{i}]"
            lines.append(f"    if r{i} is not None and ({f'next{i} is None or ' * (len(p.rules) == 1)}{differs}):")
            lines.append(f"        r{i} = validate_output(node, {i}, r{i}, next{i}, node._index[{i}])")
    if freed := release_source(p)[2:]:
        lines += ["    if not keep_graph:", *("    " + line for line in freed)]
    return [*lines, f"    return {_results(p)}"]


def _results(p: Table) -> str:
    """The tuple of the results of the rules."""
    return f"({', '.join(f'r{i}' if rule else 'None' for i, rule in enumerate(p.rules))},)"


def _rules(p: Table, on_tensors: bool) -> list[str]:
    """The lines that read the saved values and run the rules."""
    lines, values = [], [_read(p, place, on_tensors) for place in range(len(p.saved_names))]
    tensors = [place for place, name in enumerate(p.saved_names) if name in p.inputs or p.result_index(name) is not None]
    if len(tensors) > 1:  # as in PyTorch, each is read once: inputs by name, then results
        for place in sorted(tensors, key=lambda place: p.result_index(p.saved_names[place]) is not None):
            lines.append(f"    v{place} = None if node.{p.slots[place]} is None else {values[place]}")
            values[place] = f"v{place}"
    for place, name in enumerate(p.saved_names):  # an unpack hook may run
        if name in p.options and sum(place in rule.wants for rule in p.rules if rule) > 1:
            lines.append(f"    v{place} = {values[place]}")
            values[place] = f"v{place}"
    if not p.variadic:
        lines.append(f"    {', '.join(f'next{i}' for i in range(len(p.rules)))}, = node._next")
    in_order = sorted(range(len(p.rules)), key=lambda i: p.inputs[i]) if on_tensors and not p.variadic else range(len(p.rules))
    for i in in_order:  # PyTorch's order is by name, which shows in a recorded pass
        rule = p.rules[i]
        if rule is not None:
            call = f"rule{i}(grad{''.join(', ' + values[place] for place in rule.wants)})"
            is_wanted = f" if next{i} is not None and (wanted is None or next{i} in wanted) else None"
            lines.append(f"    r0 = tuple({call})" if p.variadic else f"    r{i} = {call}{is_wanted * (len(p.rules) > 1)}")
    return lines


def _read(p: Table, place: int, on_tensors: bool) -> str:
    """The expression that reads a saved value as an array, or as a tensor; or a plain value."""
    name, slot = p.saved_names[place], f"node.{p.slots[place]}"
    if "_sym_" in name:  # strides are converted from bytes to elements
        return f"node.in_elements({slot})" if name.endswith("_strides") else slot
    usual, test = "s", f"type(s := {slot}) in PLAIN"
    if name in p.inputs:
        usual = "s" if on_tensors else "(d if (d := s._data).ndim else d[()])"
        test = f"type(s := {slot}) is Tensor and s._counter is None"
    elif p.result_index(name) is not None and not on_tensors:
        usual, test = "s.data", f"(s := {slot}) is not FREED and s.version == s.counter[0] and s.unpack_hook is None"
    return f"({usual} if {test} else {'unpack' if on_tensors else 'plain'}(node, s))"


def release_source(p: Table) -> list[str]:
    """The program that frees the saved tensors. Plain values (a dim, an exponent) stay."""
    lines = ["def _release(node):", "    pass"]
    for place, name in enumerate(p.saved_names):
        slot = p.slots[place]
        if "_sym_" in name:
            continue
        if name in p.inputs or p.result_index(name) is not None:
            lines.append(f"    if node.{slot} is not None: node.{slot} = FREED")
        else:
            lines.append(f"    if type(s := node.{slot}) not in PLAIN and holds_tensor(s): node.{slot} = FREED")
    return lines
