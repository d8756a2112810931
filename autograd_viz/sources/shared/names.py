"""The user's names for things: the caller's variables."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import FrameType, FunctionType, ModuleType
from typing import Any


def visible_names(frame: FrameType) -> dict[str, Any]:
    """The caller's variables: its globals, hidden by its locals. IPython's own (In, Out, _, _3) are left out."""
    names = {**frame.f_globals, **_around(frame), **_locals_of(frame)}
    hidden = {"In", "Out"} if "get_ipython" in frame.f_globals else set()
    return {k: v for k, v in names.items() if not k.startswith("_") and k not in hidden}


MOST_HELD = 1000  # attributes and items that are read of one object
SILENT = {"autograd_viz", "torch", "IPython", "ipykernel", "ipywidgets", "traitlets"}  # they hold none of the user's tensors
INSIDE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")  # the user's code that has a frame of its own


def _around(frame: FrameType) -> dict[str, Any]:
    """The variables of the function around a comprehension, if that function runs it."""
    found: dict[str, Any] = {}
    while frame.f_code.co_name in INSIDE and frame.f_back is not None:
        name, frame = frame.f_code.co_filename, frame.f_back
        if frame.f_code.co_filename != name:
            break
        found = _locals_of(frame) | found
    return found


PLAIN = (str, int, float, bool, type(None))


def asking_frame(frame: FrameType, tensors: Sequence[Any]) -> FrameType:
    """The frame of the code that asks. Functions that only pass on are skipped: `def why(p): explain(p)`."""
    while frame.f_back is not None and _hands_on(frame, tensors):
        frame = frame.f_back
    return frame


def _hands_on(frame: FrameType, tensors: Sequence[Any]) -> bool:
    """Is it the frame of a function that got the tensors as arguments, and holds nothing else?"""
    code, held = frame.f_code, _locals_of(frame)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = [held.pop(n) for n in names if n in held]
    is_given = all(any(t is g for g in given) for t in tensors)
    is_users = frame.f_back is not None and frame.f_back.f_code.co_filename == code.co_filename
    return is_given and is_users and bool(code.co_flags & inspect.CO_NEWLOCALS) and all(type(v) in PLAIN for v in held.values())


class Names(dict[str, Any]):
    """The caller's variables, and chosen names for some tensors, which come first."""

    def __init__(self, variables: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
        super().__init__(variables)
        self.chosen = chosen


def _locals_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame. Up to Python 3.12 a function's frame keeps the dict that is read from it, and all its values:
    it is emptied, unless `locals()` has handed it out.
    """
    asked = frame.f_locals
    found = dict(asked)
    is_kept = type(asked) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED and sys.version_info < (3, 13)
    if is_kept and sys.getrefcount(asked) <= 3:  # the frame, `asked`, and the argument of getrefcount
        asked.clear()
    return found


def callers_names() -> dict[str, Any]:
    """The variables visible in the code that called us."""
    return visible_names(sys._getframe(2))


def names_by_identity(known: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """(name, tensor) pairs. The first name of a tensor is its name. The pairs hold the tensors, so comparing with `is` is safe.

    Names come in this order: chosen names; parameters and buffers of modules by their path, as a variable may be left over from
    a loop over parameters(); variables, `xs[0]`, `xs["w"]`; the same of what objects hold: `trainer.loss`, `net.scale`.
    """
    variables = _variables(known)
    held = _held_by(variables.items())
    held |= _held_by((name, value) for name, value in held.items() if _is_record(value))
    chosen = [pair for pair in getattr(known, "chosen", {}).items() if is_tensor(pair[1])]
    of_modules = [pair for name, v in {**variables, **held}.items() for pair in _registered(name, v) if is_tensor(pair[1])]
    return chosen + of_modules + _tensors(variables, is_tensor) + _tensors(held, is_tensor)


def _variables(known: Mapping[str, Any]) -> dict[str, Any]:
    """Names and values, with the attributes of `self` as if they were variables."""
    owner = known.get("self")
    held = getattr(owner, "__dict__", {}) if owner is not None and not isinstance(owner, type) else {}
    own = {f"self.{k}": v for k, v in held.items() if isinstance(k, str) and not k.startswith("_")}
    return {name: v for name, v in {**known, **own}.items() if _can_be_asked(v)}


def modules_among(known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """(name, module) pairs: the module that names were chosen from, else variables, and modules that their objects hold."""
    chosen = getattr(getattr(known, "chosen", None), "module", None)
    if chosen is not None:
        return [("", chosen)]
    return [(name, v) for name, v in _things(known) if is_module(v)]


def is_module(value: Any) -> bool:
    """Is it a module of PyTorch or of the core? It is asked of the class: an instance of ours would raise an explanation."""
    return callable(getattr(type(value), "named_modules", None))


def optimizers_among(known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """(name, optimizer) pairs: variables, and what their objects hold; each optimizer once."""
    found: list[tuple[str, Any]] = []
    for name, v in _things(known):
        if callable(getattr(type(v), "step", None)) and isinstance(getattr(v, "param_groups", None), list):
            found += [(name, v)] if all(v is not other for _, other in found) else []
    return found


def _things(known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    variables = _variables(known)
    return [*(variables | _held_by((name, of) for name, of in variables.items() if _is_record(of))).items()]


def _held_by(owners: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {path: v for name, of in owners for path, v in _attributes(name, of) if _can_be_asked(v)}


class TensorNames(dict[str, Any]):
    """Chosen names for tensors."""

    module: Any = None  # the module that they belong to, if there is one


def _is_record(value: Any) -> bool:
    """Is it an object of the user's other than a module? `trainer.out` may hold a loss."""
    return not is_module(value) and hasattr(value, "__dict__")


def _tensors(named: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """The tensors among named things, then those in lists and dictionaries among them."""
    plain = [(name, v) for name, v in named.items() if is_tensor(v)]
    return plain + [pair for name, v in named.items() for pair in elements(name, v) if is_tensor(pair[1])]


def _can_be_asked(value: Any) -> bool:
    """Is it safe to inspect? The proxy of a deleted object and an object that hides its class are not."""
    try:
        isinstance(value, list)
    except Exception:
        return False
    return True


def _attributes(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds: of a module and its parts all but parameters, of others all that is public. No user code runs."""
    if is_module(value):
        for path, part in islice(value.named_modules(), MOST_HELD):
            yield from _attributes_of(f"{name}.{path}" if path else name, part)
    elif not isinstance(value, type | ModuleType | FunctionType) and type(value).__module__.partition(".")[0] not in SILENT:
        yield from _attributes_of(name, value)


def _attributes_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    yield from ((f"{name}.{k}", v) for k, v in islice([*held.items()], MOST_HELD) if isinstance(k, str) and k[:1] != "_")


def _registered(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A module's parameters and buffers: the running statistics of a batch norm."""
    for method in ("named_parameters", "named_buffers"):
        if callable(getattr(type(value), method, None)):  # asked of the class, as in `is_module`
            yield from ((f"{name}.{k}", v) for k, v in getattr(value, method)())


def elements(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """`xs[0]`, `xs["w"]`: what a list or a dictionary holds."""
    if isinstance(value, list | tuple):
        yield from ((f"{name}[{i}]", v) for i, v in enumerate(islice(value, 1000)) if _can_be_asked(v))
    elif isinstance(value, dict):
        yield from ((f"{name}[{k!r}]", v) for k, v in islice(value.items(), 1000) if _can_be_asked(v))


def value_at(path: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of `loss`, `out["loss"]` or `self.loss`, found without calling any code; None if it is unknown."""
    match path:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Subscript(value=of, slice=ast.Constant(value=key)):
            owner = value_at(of, names)
            if type(owner) is dict:
                return owner.get(key)
            if is_module(owner):  # a part of a Sequential
                return _attribute(owner, str(key))
            return owner[key] if type(owner) in (list, tuple) and type(key) is int and -len(owner) <= key < len(owner) else None
        case ast.Attribute(value=of, attr=attr):
            return _attribute(value_at(of, names), attr)
    return None


def _attribute(owner: Any, name: str) -> Any:
    """What an object holds under a name; a module also has its parameters, buffers and parts."""
    held = getattr(owner, "__dict__", {})
    if name in held:
        return held[name]
    registered = (held.get(k) for k in ("_parameters", "_buffers", "_modules"))
    return next((v[name] for v in registered if isinstance(v, dict) and name in v), None)
