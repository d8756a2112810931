"""The base class of all optimizers: groups of parameters, their options, the state of each parameter, and a step."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from ..core.backward.accumulate_grad import clear_grad
from ..core.backward.hooks import RemovableHandle, register
from ..core.base import events
from ..core.base.grad_mode import enable_grad
from ..core.base.provenance import callers_place, note_change
from ..core.tensor import Array, Tensor, refuse_if

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

State = dict[str, Any]
Group = dict[str, Any]
Hooks = dict[int, Callable[..., Any]]
for_all: defaultdict[str, Hooks] = defaultdict(dict)  # by their kind: the hooks of all optimizers


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` between its hooks. It also counts the steps, for learning rate schedules."""

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        optimizer, own = args[0], args[0]._hooks
        for hook in [*for_all["step_pre"].values(), *own["step_pre"].values()]:
            changed = hook(optimizer, args, kwargs)
            if changed is not None and not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed or (args, kwargs)
        result = step(*args, **kwargs)
        optimizer._steps += 1
        for hook in [*own["step_post"].values(), *for_all["step_post"].values()]:
            hook(optimizer, args, kwargs)
        return result

    return hooked


class Optimizer:
    """Updates parameters by their gradients. A subclass defines `_update`, for one parameter."""

    _steps = 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in vars(cls):
            cls.step = with_hooks(vars(cls)["step"])  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"torch.{params.dtype.legacy}Tensor"
            )
        check_options(defaults)
        self.defaults = defaults
        self._hooks: defaultdict[str, Hooks] = defaultdict(dict)
        self.state: defaultdict[Any, State] = defaultdict(dict)
        self.param_groups: list[Group] = []  # dictionaries with the parameters under "params", and their options
        events.making(self)
        groups = list(params)
        refuse_if(not groups, "optimizer got an empty parameter list", ValueError)
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters, with options. Raises TypeError: no dict, or no tensors; ValueError: no leaf, or of another group."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        named = [(p if isinstance(p, tuple) else (None, p)) for p in ([given] if isinstance(given, Tensor) else list(given))]
        for _, p in named:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            refuse_if(not p.is_leaf, "can't optimize a non-leaf Tensor", ValueError)
        chosen = [p for _, p in named]
        if len(set(chosen)) != len(chosen):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3,
            )  # fmt: skip
        if {p for g in self.param_groups for p in g["params"]} & set(chosen):
            raise ValueError("some parameters appear in more than one parameter group")
        names = {"param_names": [n for n, _ in named]} if all(n for n, _ in named) else {}
        self.param_groups.append({**param_group, "params": chosen, **names, **{
            n: v for n, v in self.defaults.items() if n not in param_group
        }})  # fmt: skip

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients to None, or to zeros in place."""
        for group in self.param_groups:
            for p in group["params"]:
                clear_grad(p, set_to_none)

    @with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update each parameter that has a gradient. `closure` computes gradients again, and returns the loss."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        at = callers_place()
        events.stepping(self)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    grad = p.grad._data
                    with np.errstate(all="ignore"):  # a diverging training reaches inf and nan without a warning
                        self._update(p._data, -grad if group.get("maximize") else grad, self.state[p], group)
                    p._bump_version()
                    note_change(p, at)
        return loss

    def _update(self, p: Array, grad: Array, state: State, group: Group) -> None:
        """Change the values `p` in place. The gradient is negated if the group maximizes; the state holds tensors."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step. Its result replaces the arguments."""
        return register(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return register(self._hooks["step_post"], hook)

    def state_dict(self) -> dict[str, Any]:
        """State and options. Parameters are numbered."""
        number = {p: i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        groups = [{**{k: v for k, v in g.items() if k != "params"}, "params": [number[p] for p in g["params"]]}
                  for g in self.param_groups]  # fmt: skip
        return {"state": {number[p]: s for p, s in self.state.items() if s}, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from `state_dict`. Raises ValueError: its groups of parameters differ."""
        saved, groups = deepcopy(state_dict["param_groups"]), self.param_groups
        refuse_if(len(saved) != len(groups), "loaded state dict has a different number of parameter groups", ValueError)
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(saved, groups, strict=True)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        by_number = dict(zip((i for g in saved for i in g["params"]), (p for g in groups for p in g["params"]), strict=True))
        self.state = defaultdict(dict)
        for i, memory in state_dict["state"].items():
            copied = {k: Tensor(v._data.copy()) if isinstance(v, Tensor) else deepcopy(v) for k, v in memory.items()}
            self.state[by_number[i]] = copied
        self.param_groups = [{**new, "params": old["params"]} for new, old in zip(saved, groups, strict=True)]

    def __repr__(self) -> str:
        hidden = {"params", "param_names"}
        texts = [
            "\n".join([f"Parameter Group {i}", *(f"    {k}: {group[k]}" for k in sorted(group.keys() - hidden))])
            for i, group in enumerate(self.param_groups)
        ]
        return f"{type(self).__name__} (\n" + "\n\n".join(texts) + "\n)"


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of any optimizer. Its result replaces the arguments."""
    return register(for_all["step_pre"], hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of any optimizer."""
    return register(for_all["step_post"], hook)


def options_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """The options among the arguments of an ``__init__``, which are its `locals()` at the start."""
    return {n: v for n, v in arguments.items() if n not in ("self", "__class__", "params")}


def check_options(options: dict[str, Any]) -> None:
    """Refuse invalid options."""
    words = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value",
             "momentum": "momentum value", "rho": "rho value", "lr_decay": "lr_decay value", "alpha": "alpha value",
             "momentum_decay": "momentum_decay value"}  # fmt: skip
    for name, text in words.items():
        value = options.get(name)
        if isinstance(value, int | float) and not value >= 0:
            raise ValueError(f"Invalid {text}: {value}")
    refuse_if(options.get("rho", 0) > 1, lambda: f"Invalid rho value: {options['rho']}", ValueError)
    for i, beta in enumerate(options.get("betas", ())):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def state_array(state: State, name: str, like: Array, value: float = 0.0) -> Array:
    """An array of the parameter's shape in the state, made at first use."""
    if name not in state:
        state[name] = Tensor(np.full_like(like, value))
    return state[name]._data  # type: ignore[no-any-return]


def next_step(state: State) -> int:
    """The number of this step."""
    state.setdefault("step", Tensor(np.array(0.0, np.float32)))
    state["step"]._data += 1
    return int(state["step"]._data)
