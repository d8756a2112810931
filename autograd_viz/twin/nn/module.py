"""Module: an object with parameters and a forward, which can be saved and loaded. Its hooks are in hooks.py."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.backward.accumulate_grad import clear_grad
from ..core.base.device import check_device
from ..core.base.device import device as Device  # noqa: N812 -- `device` is PyTorch's name of the argument
from ..core.base.dtypes import dtype, float16, float32, float64
from ..core.tensor import Tensor, refuse_if
from .hooks import HookedCall
from .parameter import Buffer, Parameter, kind_of

__all__ = ["Module"]

Named = Iterator[tuple[str, Any]]


class IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that did not fit when a state was loaded."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"_{super().__repr__()}" if any(self) else "<All keys matched successfully>"


EXTRA = "_extra_state"  # the name of what `get_extra_state` returns
_NEVER = (
    "Reached a code path in Module.{}() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


class Module(HookedCall):
    """Subclass it, assign Parameters and Modules as attributes, define `forward`, and call the object."""

    training: bool
    _modules: dict[str, Any]
    _version = 1

    def __init__(self) -> None:
        self.__dict__["training"] = True
        for name in ("_parameters", "_buffers", "_modules"):
            self.__dict__[name] = {}
        self.__dict__["_non_persistent_buffers_set"] = set()
        self._init_hooks()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output. Calling the module calls it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __getattr__(self, name: str) -> Any:
        for kept in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(kept, ()):
                return self.__dict__[kept][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        for kind, kept, what in ((Parameter, "_parameters", "parameters"), (Module, "_modules", "module"),
                                 (Buffer, "_buffers", "buffers")):  # fmt: skip
            if isinstance(value, kind):
                if kept not in self.__dict__:
                    raise AttributeError(f"cannot assign {what} before Module.__init__() call")
                if isinstance(getattr(type(self), name, None), property):  # of parametrize.py
                    raise KeyError(f"attribute '{name}' already exists")
                self._forget(name, but=kept)
                self.__dict__[kept][name] = value
                if isinstance(value, Buffer):
                    self._mark_persistent(name, value.persistent)
                return
        self._set_other(name, value)

    def _set_other(self, name: str, value: Any) -> None:
        """Set any other attribute. It may replace a parameter, buffer or submodule."""
        for kept, what, wanted in (
            ("_parameters", "parameter", "torch.nn.Parameter"), ("_modules", "child module", "torch.nn.Module"),
            ("_buffers", "buffer", "torch.nn.Buffer, torch.Tensor"),
        ):  # fmt: skip
            if name in self.__dict__.get(kept, ()):
                if value is not None and not (kept == "_buffers" and isinstance(value, Tensor)):
                    raise TypeError(f"cannot assign '{kind_of(value)}' as {what} '{name}' ({wanted} or None expected)")
                self.__dict__[kept][name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def _forget(self, name: str, but: str = "") -> bool:
        """Remove `name` from all dictionaries, except from `but`."""
        places = [self.__dict__[k] for k in ("_parameters", "_buffers", "_modules") if k != but] + [self.__dict__] * bool(but)
        found = [place.pop(name) is None or True for place in places if name in place]
        if but != "_buffers":
            self._non_persistent_buffers_set.discard(name)
        return bool(found)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def _check_name(self, kind: str, name: Any, kept: dict[str, Any]) -> None:
        refuse_if(not isinstance(name, str), lambda: f"{kind} name should be a string. Got {type(name).__name__}", TypeError)
        refuse_if(hasattr(self, name) and name not in kept, lambda: f"attribute '{name}' already exists", KeyError)
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        refuse_if(name == "", lambda: f'{kind} name can\'t be empty string ""', KeyError)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None reserves the name. Raises TypeError: no Parameter; KeyError: no name, a dot, or taken."""
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            wanted = "torch.nn.Parameter or None required"
            raise TypeError(f"cannot assign '{kind_of(param)}' object to parameter '{name}' ({wanted})")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state, in `state_dict` if persistent. Raises TypeError, KeyError: as `register_parameter`."""
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{kind_of(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        self._mark_persistent(name, persistent)

    def _mark_persistent(self, name: str, persistent: bool) -> None:
        kept_out = self._non_persistent_buffers_set
        (kept_out.discard if persistent else kept_out.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule. Raises TypeError: not a Module; KeyError: no name, a dot in it, or taken."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = module

    register_module = add_module

    def named_children(self) -> Named:
        """Direct submodules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """Direct submodules, each once."""
        return (m for _, m in self.named_children())

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True) -> Named:
        """The module and all its submodules with their dotted names, outermost first."""
        memo = set() if memo is None else memo
        if remove_duplicate and self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """The module and all its submodules, each once."""
        return (m for _, m in self.named_modules())

    def _named(self, kept: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Named:
        """The tensors in one dictionary of all modules, with dotted names."""
        seen = set()
        walk = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else ((prefix, self),)
        for path, module in walk:
            for name, value in module.__dict__[kept].items():
                if value is not None and not (remove_duplicate and value in seen):
                    seen.add(value)
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Named:
        """Parameters with their dotted names, each once."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Parameters, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Named:
        """Buffers with their dotted names, each once."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers, each once."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The submodule with that dotted name. Raises AttributeError: there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module  # type: ignore[no-any-return]

    def _get(self, target: str, kept: str, article: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        refuse_if(not hasattr(module, name), lambda: f"{type(module).__name__} has no attribute `{name}`", AttributeError)
        refuse_if(name not in module.__dict__[kept], lambda: f"`{name}` is not {article}", AttributeError)
        return module.__dict__[kept][name]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with that dotted name."""
        return self._get(target, "_parameters", "an nn.Parameter")  # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with that dotted name."""
        return self._get(target, "_buffers", "a buffer")  # type: ignore[no-any-return]

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call `fn` on all submodules, innermost first, then on this module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Set training mode, which dropout and batch norm read, here and in all submodules. Raises ValueError: not a bool."""
        refuse_if(not isinstance(mode, bool), "training mode is expected to be boolean", ValueError)
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Any:
        """Evaluation mode: train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Train these parameters, or freeze them."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters."""
        for p in self.parameters():
            clear_grad(p, set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replace the values of all parameters, gradients and buffers by ``fn`` of them. Parameters stay the same objects."""
        found: list[Any] = [*self.modules()] if recurse else [self]
        for module in found:
            for tensor in (*module._parameters.values(), *module._buffers.values()):
                if tensor is not None:
                    tensor.data = fn(tensor.detach())
                    if tensor._grad is not None:
                        tensor._grad = fn(tensor._grad).detach()
        return self

    def _to_type(self, kind: dtype) -> Any:
        """Convert all floating point parameters, gradients and buffers."""
        return self._apply(lambda t: t.to(kind) if t.dtype.is_floating_point else t)

    def type(self, dst_type: Any) -> Any:
        """Convert all parameters and buffers, of any type: a dtype, or an old type such as torch.DoubleTensor.

        Raises RuntimeError: a parameter that requires grad, and a type without gradients.
        """
        return self._apply(lambda t: t.type(dst_type))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Give all parameters and buffers new memory, whose values are arbitrary."""
        check_device(device)
        return self._apply(lambda t: Tensor(np.empty_like(t._data)), recurse)

    def to(self, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Convert to a floating point or complex type: ``to(float64)``. The device is the CPU. Raises TypeError."""
        for a in args:
            if isinstance(a, str | Device):
                device = a
            else:
                dtype = a.dtype if isinstance(a, Tensor) else a
        check_device(device)
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        return self._to_type(dtype)

    def float(self) -> Any:
        """All floating point parameters and buffers as float32."""
        return self._to_type(float32)

    def double(self) -> Any:
        """All floating point parameters and buffers as float64."""
        return self._to_type(float64)

    def half(self) -> Any:
        """All floating point parameters and buffers as float16."""
        return self._to_type(float16)

    def cpu(self) -> Any:
        """The module itself: the CPU is the only device."""
        return self

    def _own_state(self) -> dict[str, Tensor]:
        """The tensors of this module, without its submodules."""
        both = {**self._parameters, **{n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}}
        return {n: t for n, t in both.items() if t is not None}

    def get_extra_state(self) -> Any:
        """State that is no parameter or buffer. A subclass returns it, and takes it in `set_extra_state`."""
        raise RuntimeError(_NEVER.format("get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` returned."""
        raise RuntimeError(_NEVER.format("set_extra_state"))

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by dotted name, after `prefix`. They share memory with the module.

        `destination` is a dictionary to fill. With `keep_vars` they are the Parameters themselves, not detached tensors.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy values by name into parameters and buffers; with `assign`, use the given tensors themselves.

        Raises TypeError: not a dictionary. Raises RuntimeError: shapes differ, or (strict) names; one message lists all.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        expected = dict(_places(self))
        missing = [n for n in expected if n not in state_dict]
        unexpected = [n for n in state_dict if n not in expected]
        errors = [e for n, place in expected.items() if n in state_dict for e in _load(n, *place, state_dict[n], assign)]
        if strict and missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if strict and unexpected:
            errors.insert(bool(missing), f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if errors:
            raise RuntimeError("\n\t".join([f"Error(s) in loading state_dict for {type(self).__name__}:", *errors]))
        return IncompatibleKeys(missing, unexpected)

    def extra_repr(self) -> str:
        """The options in the brackets of the repr."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(m))}" for name, m in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = "".join(f"\n  {line}" for line in lines + children)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def indented(text: str, spaces: int = 2) -> str:
    """The text with all lines except the first indented."""
    return text.replace("\n", "\n" + " " * spaces)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{n}"' for n in names)


def _places(module: Any, prefix: str = "") -> Iterator[tuple[str, tuple[Any, str]]]:
    """Each full name, with the module and the name in that module."""
    for name in module._own_state():
        yield prefix + name, (module, name)
    if type(module).set_extra_state is not Module.set_extra_state:
        yield prefix + EXTRA, (module, EXTRA)
    for name, child in module._modules.items():
        if child is not None:
            yield from _places(child, f"{prefix}{name}.")


def _load(full: str, module: Any, name: str, given: Any, assign: bool) -> list[str]:
    """Load one tensor. Returns the error messages."""
    if name == EXTRA:
        module.set_extra_state(given)
        return []
    mine = getattr(module, name)
    if not isinstance(given, Tensor):
        return [f'While copying the parameter named "{full}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(given)}"]  # fmt: skip
    if given.shape != mine.shape:
        return [f"size mismatch for {full}: copying a param with shape {given.shape} from checkpoint, the shape in current "
                f"model is {mine.shape}."]  # fmt: skip
    if assign:
        setattr(module, name, Parameter(given, mine.requires_grad) if isinstance(mine, Parameter) else given)
    else:
        np.copyto(mine._data, given._data, casting="unsafe")
        mine._bump_version()
    return []
