"""torch.func: derivatives, forward ones by reverse mode, and `vmap`, which computes one example after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backward.backward import grad as gradients
from ..core.base.grad_mode import enable_grad
from ..core.ops.shape.joining import stack
from ..core.tensor import Tensor, default_generator, refuse_if

Function = Callable[..., Any]


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same nest with ``function(leaf)`` for each leaf."""
    if isinstance(tree, dict):
        return type(tree)((k, mapped(function, v)) for k, v in tree.items())
    if isinstance(tree, list | tuple):
        parts = [mapped(function, part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return function(tree)


def leaves(tree: Any) -> list[Any]:
    """What is in the nest, in order."""
    found: list[Any] = []
    mapped(found.append, tree)
    return found


def filled(tree: Any, values: list[Any]) -> Any:
    """The same nest with other leaves."""
    rest = iter(values)
    return mapped(lambda _: next(rest), tree)


class _Tracked:
    """One call: its arguments `picked`, those to differentiate, are new tensors that require grad; `inputs` are the tensors."""

    def __init__(self, func: Function, args: Any, kwargs: dict[str, Any], argnums: Any, has_aux: bool) -> None:
        self._own: list[Tensor] = []
        numbers = (argnums,) if isinstance(argnums, int) else argnums
        if beyond := [n for n in numbers if not -len(args) <= n < len(args)]:
            raise RuntimeError(f"Got argnum={beyond[0]}, but only {len(args)} positional inputs")
        new = {n % len(args): mapped(self._track, args[n]) for n in numbers}
        self.args = tuple(new.get(i, a) for i, a in enumerate(args))
        self.picked = self.args[argnums] if isinstance(argnums, int) else tuple(self.args[n] for n in numbers)
        self.inputs = leaves(self.picked)
        output: Any = func(*self.args, **kwargs)
        self.aux: list[Any]
        self.output, *self.aux = output if has_aux else (output,)

    def _track(self, x: Any) -> Tensor:
        refuse_if(not isinstance(x, Tensor), lambda: f"Thing passed to transform API must be Tensor, got {type(x)}", ValueError)
        if x.requires_grad:
            return x.view_as(x)  # type: ignore[no-any-return]
        self._own.append(x.detach().requires_grad_())
        return self._own[-1]

    def gradients(self, outputs: Any, grad_outputs: Any = None) -> list[Tensor]:
        """The gradients of the inputs; zeros where an output does not depend on one."""
        pairs = [(y, None if grad_outputs is None else grad_outputs[i]) for i, y in enumerate(outputs) if y.requires_grad]
        found: Any = [None] * len(self.inputs)
        if pairs:
            ys, vs = zip(*pairs, strict=True)
            found = gradients(ys, self.inputs, vs, create_graph=True, allow_unused=True)
        return [Tensor(np.zeros_like(x._data)) if g is None else g for g, x in zip(found, self.inputs, strict=True)]

    def settled(self, tree: Any) -> Any:
        """The results. One that depends on no other tensor that requires grad is outside the graph."""
        return mapped(lambda t: t.detach() if isinstance(t, Tensor) and not self._leads_out(t) else t, tree)

    def _leads_out(self, result: Tensor) -> bool:
        """Does the graph of the result reach a leaf that is not of this call?"""
        if result.grad_fn is None:
            return result.requires_grad and not any(result is x for x in self._own)
        left: list[Any] = [result.grad_fn]
        seen: set[Any] = {None}
        while left:
            node = left.pop()
            leaf = getattr(node, "variable", None)
            if leaf is not None and not any(leaf is x for x in self._own):
                return True
            seen.add(node)
            left += [after for after, _ in node.next_functions if after not in seen]
        return False


def grad_and_value(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that returns (gradient, value) of `func`; with `has_aux`, (gradient, (value, aux)).

    `func` returns one number; with `has_aux`, a pair of that and anything else. `argnums` are the arguments to differentiate,
    which may be nests of tensors.
    """

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            call = _Tracked(func, args, kwargs, argnums, has_aux)
            value, (aux,) = call.output, call.aux if has_aux else (None,)
            said = "grad_and_value(f)(*args): Expected f(*args) to return"
            refuse_if(not isinstance(value, Tensor), lambda: f"{said} a Tensor, got {type(value)}")
            if value.dim():
                advice = "Maybe you wanted to use the vjp or jacrev APIs instead?"
                raise RuntimeError(f"{said} a scalar Tensor, got tensor with {value.dim()} dims. {advice}")
            found = filled(call.picked, call.gradients([value]))
        return call.settled(found), call.settled((value, aux) if has_aux else value)

    return both


def grad(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of `func`; with `has_aux`, (gradient, aux). Arguments as of `grad_and_value`."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(output, a function from v to vᵀJ); with `has_aux`, aux at the end."""
    with enable_grad():
        call = _Tracked(func, primals, {}, tuple(range(len(primals))), has_aux)

    def product(*v: Any) -> Any:
        with enable_grad():
            found = call.gradients(leaves(call.output), leaves(v[0] if len(v) == 1 else v))
        return call.settled(filled(call.picked, found))

    return (call.settled(call.output), product, *call.settled(call.aux))


def jvp(func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False) -> tuple[Any, ...]:
    """(output, Jv): vᵀJ differentiated with respect to v."""
    with enable_grad():
        call = _Tracked(func, primals, {}, tuple(range(len(primals))), has_aux)
        ys = leaves(call.output)
        us = [Tensor(np.zeros_like(y._data)).requires_grad_() for y in ys]
        back = [g for g in call.gradients(ys, us) if g.requires_grad]
        along = [t for t, g in zip(leaves(tangents), call.gradients(ys, us), strict=True) if g.requires_grad]
        found = gradients(back, us, along, create_graph=True, allow_unused=True) if back else [None] * len(us)
        call._own += us
        rows = [Tensor(np.zeros_like(y._data)) if f is None else f for f, y in zip(found, ys, strict=True)]
    return (call.settled(call.output), call.settled(filled(call.output, rows)), *call.settled(call.aux))


def jacrev(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, **options: Any) -> Function:
    """A function that returns the Jacobian of `func`: for each output and input a tensor of shape (*output, *input)."""

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            call = _Tracked(func, args, kwargs, argnums, has_aux)

            def of(y: Tensor) -> Any:
                rows = [call.gradients([element]) for element in y.reshape(-1).unbind(0)]
                columns = zip(call.inputs, zip(*rows, strict=True), strict=True)
                return filled(call.picked, [stack(column).reshape((*y.shape, *x.shape)) for x, column in columns])

            found = mapped(of, call.output)
        return (call.settled(found), *call.settled(call.aux)) if has_aux else call.settled(found)

    return jacobian


def jacfwd(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """The Jacobian as `jacrev` computes it: there is no forward mode."""
    return jacrev(func, argnums, has_aux)


def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """A function that returns the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


# -- batches ----------------------------------------------------------------------------------------------------------------

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def _spread(dims: Any, tree: Any, refusal: str) -> list[Any]:
    """The dimension of each leaf of the nest. One number holds for all leaves below it."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves(tree))
    parts = list(tree.values()) if isinstance(tree, dict) else tree
    own = list(dims.values()) if isinstance(dims, dict) else dims
    if not isinstance(parts, list | tuple) or not isinstance(own, list | tuple) or len(own) != len(parts):
        raise ValueError(refusal)
    return [d for one, part in zip(own, parts, strict=True) for d in _spread(one, part, refusal)]


def _check(inputs: list[Any], dims: list[Any], said: str) -> int:
    """The length of the batch, if the dimensions fit."""
    for x, dim in zip(inputs, dims, strict=True):
        if dim is not None and not isinstance(x, Tensor):
            raise ValueError(
                f"{said}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if dim is not None and not -x.dim() <= dim < x.dim():
            raise ValueError(
                f"{said}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected "
                f"in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
    sizes = [x.shape[dim] for x, dim in zip(inputs, dims, strict=True) if dim is not None]
    if len(set(sizes)) > 1:
        said = "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes"
        raise ValueError(f"{said} {sizes} for the mapped dimension")
    if not sizes or not sizes[0]:
        raise ValueError(f"{said}there is nothing to map over: no in_dim, or a batch of length 0")
    return int(sizes[0])


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Callable[..., Any]:
    """A function of batches that calls `func`, from nests of tensors to tensors, for each example, and stacks the results.

    `in_dims` are the batch dimensions of the arguments, None for one that all examples share; `out_dims` those of the results.
    `randomness`: "error" refuses random numbers, "same" gives all examples the same, "different" other ones. `chunk_size` has
    no effect. Raises ValueError: the dimensions do not fit, or a result is not a tensor; in PyTorch's words.
    """
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        said = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
        dims = _spread(in_dims, args, f"{said}in_dims is not compatible with the structure of inputs.")
        dims += [0] * len(leaves(kwargs))
        inputs = leaves((args, kwargs))
        results = []
        for i in range(_check(inputs, dims, said)):
            before = default_generator.get_state()
            parts = [x if dim is None else x.select(dim, i) for x, dim in zip(inputs, dims, strict=True)]
            own_args, own_kwargs = filled((args, kwargs), parts)
            results.append(func(*own_args, **own_kwargs))
            refuse_if(randomness == "error" and (default_generator.get_state()._data != before._data).any(), _RANDOM)
            if randomness == "same":
                default_generator.set_state(before)
        for x in leaves(results[0]):
            if not isinstance(x, Tensor):
                advice = "Did you mean to set out_dims= to None for output?"
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. {advice}")
        ends = _spread(out_dims, results[0], f"vmap({name}, ...): out_dims is not compatible with the structure of outputs.")
        columns = zip(*map(leaves, results), strict=True)
        stacked = [rows[0] if end is None else stack(list(rows), end) for rows, end in zip(columns, ends, strict=True)]
        return filled(results[0], stacked)

    return batched
