"""What PyTorch keeps of a region that ``torch.compile`` has made: its graphs, and what they run on.

These interfaces are private, and only this file knows them. They were tried with PyTorch 2.9, 2.13, 2.14 and 2.15.
Where one is missing, the answer is None or empty, and the region stays one node.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from ....graph.surroundings import Source
from .call_place import library

LINE = re.compile(r'File "(.+)", line (\d+), in (.+)')
ROOT = re.compile(r"^[LG]\['(\w+)'\]\.?")  # how Dynamo calls the model: L['self'].layers.0
PARTS = re.compile(r"[\w]+")
DEEPEST = 4  # closures around the graph of a forward pass
RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")  # the rest of a function after a graph break
MODULES = ("nn_module_stack", "fwd_nn_module_stack")
FUNCTIONS = ("source_fn_stack", "fwd_source_fn_stack")


def backward_graph(node: Any) -> Any:
    """The backward graph of a region (`torch.fx.GraphModule`), by the grad_fn of its results; None if it is not kept.

    It takes what the region keeps, and gradients. One that takes more is not read: states of random generators, or the tensors
    that are in a tensor of a subclass.
    """
    region = getattr(node, "_forward_cls", None)
    found = getattr(getattr(region, "_lazy_backward_info", None), "bw_module", None)
    if not isinstance(found, torch.fx.GraphModule) or getattr(region, "maybe_subclass_metadata", None) is not None:
        return None
    tangents = sum(map(is_tangent, found.graph.nodes))
    if not hasattr(region, "_bw_prologue_fn") and tangents != len(node._input_metadata):  # in PyTorch 2.9: which are they?
        return None
    try:
        saved = len(node._raw_saved_tensors or ())  # no hook of the user's is called
    except RuntimeError:  # freed
        return found
    taken = sum(n.op == "placeholder" and not is_tangent(n) for n in found.graph.nodes)
    return found if taken == saved + len(kept_beside(node)) + len(sizes_of(node)) + len(_objects_of(node)) else None


def is_cached(node: Any) -> bool:
    """Was the region taken from PyTorch's cache on disk? What that keeps of the graph tells no op's module, line and number."""
    info = getattr(getattr(node, "_forward_cls", None), "_lazy_backward_info", None)
    return hasattr(info, "bw_module_fn")


def forward_graph(node: Any) -> Any:
    """The forward graph, if the backend runs it as it is, as "aot_eager" does; else None."""
    todo = [(getattr(node._forward_cls, "compiled_fw", None), 0)]
    while todo:
        thing, depth = todo.pop()
        thing = getattr(thing, "__self__", thing)
        if isinstance(thing, torch.fx.GraphModule):
            return thing
        cells = getattr(thing, "__closure__", None) or ()
        todo += [(c.cell_contents, depth + 1) for c in cells if depth < DEEPEST and _is_full(c)]
    return None


def _is_full(cell: Any) -> bool:
    try:
        return callable(cell.cell_contents)
    except ValueError:  # empty
        return False


def is_tangent(n: Any) -> bool:
    """Is it the gradient of one of the region's results?"""
    return bool(n.op == "placeholder" and n.name.startswith("tangents"))


def is_input(name: str) -> bool:
    """Is it a tensor with which the region was called?"""
    return name.startswith("primals_")


def _kept_as(name: str) -> Callable[[Any], tuple[Any, ...]]:
    return lambda node: tuple(getattr(node, name, None) or ())


kept_beside = _kept_as("_tensors_no_vc_check")  # tensors that a region keeps beside its saved tensors
sizes_of = _kept_as("symints")  # the sizes that it keeps, of dimensions that may change
_objects_of = _kept_as("opaque_objects")


def known_sizes(node: Any, graph: Any, shapes: Iterable[Any]) -> dict[Any, int]:
    """What the symbols of dimensions stand for in this pass. `shapes`: of the placeholders after the sizes, in their order."""
    places = [n.meta.get("val") for n in graph.nodes if n.op == "placeholder"]
    sizes = sizes_of(node)
    pairs = list(zip(places, sizes, strict=False))
    for value, shape in zip(places[len(sizes) :], shapes, strict=False):
        pairs += zip(getattr(value, "shape", ()), shape, strict=False)
    return {s.node.expr: int(size) for s, size in pairs if isinstance(s, torch.SymInt) and s.node.expr.is_Symbol}


def shape_of(value: Any, known: dict[Any, int]) -> tuple[int, ...] | None:
    """Its shape; None if these symbols do not tell it. ``int(size)`` would be a guard: the next call would compile anew."""
    found = [s.node.expr.xreplace(known) if isinstance(s, torch.SymInt) else s for s in value.shape]
    return tuple(map(int, found)) if all(isinstance(s, int) or s.is_Integer for s in found) else None


def exported_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a value of an exported graph, for the inputs of the export; None if it depends on their elements."""
    found = [size if isinstance(size, int) else size.node.hint for size in value.shape]
    return None if None in found else tuple(map(int, found))


def arguments(node: Any, grads: Sequence[Any]) -> list[Any]:
    """What the backward graph is run on: sizes, saved tensors, the gradients that arrived. RuntimeError: these are freed."""
    kept = (*node.saved_tensors, *kept_beside(node))
    prologue = getattr(node._forward_cls, "_bw_prologue_fn", None)
    if prologue is None:
        return [*sizes_of(node), *kept, *grads]
    return prologue(kept, sizes_of(node), _objects_of(node), list(grads))  # type: ignore[no-any-return]


def as_compiled() -> AbstractContextManager[None]:
    """Inside, ops run as in a compiled pass: without autocast."""
    return torch._C._DisableAutocast()


# -- of an op of the graph --------------------------------------------------------------------------------------------


def number_of(n: Any) -> int | None:
    """The sequence number of the forward op that it belongs to."""
    return n.meta.get("seq_nr")  # type: ignore[no-any-return]


def is_sum(n: Any) -> bool:
    """Does it add gradients that arrive at one tensor? Autograd's engine does that, no rule of an op."""
    if "is_gradient_acc" in n.meta:
        return bool(n.meta["is_gradient_acc"])
    return "Gradient addition node" in (n.meta.get("stack_trace") or "")  # in PyTorch 2.9


def is_forward(n: Any) -> bool:
    """Is it an op, or a result, of the forward pass?"""
    return bool(n.meta.get("partitioner_tag") == "is_forward")


def op_name(n: Any) -> str:
    """The op as the user's program had it, before it was taken apart: "gelu"; "" if that is not known."""
    op = n.meta.get("original_aten")
    return "" if op is None else str(op).split(".")[1]


def own_name(n: Any) -> str:
    """The op itself: "mm" of ``aten.mm.default``."""
    name = str(n.target).split(".")[1:2] if isinstance(n.target, torch._ops.OpOverload) else []
    return name[0] if name else str(getattr(n.target, "__name__", n.target))


def function_name(n: Any) -> str:
    """The function or module of the user's program that it belongs to: "linear", "Linear"; "" if that is not known."""
    stack = next((s for key in FUNCTIONS if (s := n.meta.get(key))), None)
    return "" if not stack else str(getattr(stack[-1][1], "__name__", stack[-1][1]))


def modules_around(n: Any) -> list[tuple[str, str, str]]:
    """The modules around its op, from the outermost: the variable of the model, the path in it, the class."""
    stack = next((s for key in MODULES if (s := n.meta.get(key))), None) or {}
    found = []
    for path, kind in stack.values():
        root = ROOT.match(path)
        inner = [p for p in PARTS.findall(path[root.end() :] if root else path) if p not in ("_modules", "_orig_mod")]
        found.append((root[1] if root else "", ".".join(inner), getattr(kind, "__name__", str(kind).rpartition(".")[2])))
    return found


def line_of(ops: Iterable[Any]) -> Source | None:
    """The user's line of their forward op."""
    for n in ops:
        places = [p for p in LINE.findall(n.meta.get("stack_trace") or "") if not library[p[0]]]
        if places:
            file, number, name = places[-1]
            function = RESUMED.sub(r"\1", name.strip())
            text = linecache.getline(file, int(number)).rstrip("\n")
            return Source(file, int(number), int(number), len(text) - len(text.lstrip()), len(text), text, function)
    return None


def graph_break(ops: Iterable[Any]) -> str:
    """Why the compiler began anew before a region with these ops: its reason and the line; "" if it began there by itself."""
    frames = (frame for n in ops for frame in LINE.findall(n.meta.get("stack_trace") or ""))
    after = next(((file, int(found[2])) for file, _, name in frames if (found := RESUMED.match(name.strip()))), None)
    if after is None:
        return ""
    reasons = getattr(sys.modules.get("torch._dynamo.utils"), "graph_break_reasons", ())
    told = (r.reason for r in reasons if after in [(f.filename, f.lineno) for f in r.user_stack])
    said = next(told, "").partition("\n")[0]
    said = f"Data-dependent branching: {said}" if said.startswith("generic_jump") else said  # PyTorch's own name for it
    place = f"{os.path.basename(after[0])}:{after[1]}"
    return f"{place}: {said}" if said else place


def ends_of(node: Any, graph: Any) -> list[Any] | None:
    """What leaves the region, for each of its next_functions: an op of the graph, or None. None: they do not fit."""
    (results,) = next(n for n in graph.nodes if n.op == "output").args
    needs = node.needs_input_grad
    leads = [after is not None for after, _ in node.next_functions]
    if len(results) < len(needs) or sum(needs) != sum(leads):
        return None
    wanted = iter([r for r, need in zip(results, needs, strict=False) if need])
    return [next(wanted) if leads_on else None for leads_on in leads]
