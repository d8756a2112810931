"""Programs about hooks of modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, program, told


def module(torch: Any, function: Callable[..., Any]) -> Any:
    """A module without parameters that computes `function`."""

    class Computes(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    return Computes()


def watched(torch: Any, function: Callable[..., Any], said: list[Any]) -> Any:
    """Such a module with a backward hook before and one after, which write down what they see."""
    made = module(torch, function)
    made.register_full_backward_pre_hook(lambda m, grad_output: said.append(("pre", grad_output)))
    made.register_full_backward_hook(lambda m, grad_input, grad_output: said.append(("post", grad_input, grad_output)))
    return made


@program
def module_hooks_see_none_for_an_output_that_nobody_used(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x, w = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    product, _ = watched(torch, lambda a, b: (a * b, a + b), said)(x, w)
    yield product.grad_fn.name()
    product.sum().backward()
    yield said, x.grad, w.grad


@program
def module_hooks_see_a_place_for_every_argument_and_output(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 1.0, 2.0)
    watched(torch, lambda n, a: (3, a * n, None, "text"), said)(2, x)[1].sum().backward()
    yield said
    said.clear()
    watched(torch, lambda a, k: a * k, said)(x, k=leaf(torch, 5.0, 6.0)).sum().backward()
    yield said
    said.clear()
    watched(torch, lambda: leaf(torch, 1.0) * 2, said)().backward()
    yield said


@program
def module_hooks_need_a_tensor_or_a_tuple_as_output(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 1.0, 2.0)
    for function in (lambda a: {"out": a * 3}, lambda a: [a * 1], lambda a: 3, lambda a: None):
        output = watched(torch, function, said)(x)
        yield type(output).__name__
        if isinstance(output, dict):
            output["out"].sum().backward()
    yield said


@program
def what_module_hooks_return_takes_the_place_of_gradients(torch: Any) -> Iterator[Any]:
    def outcome_of(returned: Callable[[Any], Any], register: str) -> Any:
        x = leaf(torch, 1.0, 2.0)
        doubled = module(torch, lambda a: a * 2)
        getattr(doubled, register)(lambda m, *grads: returned(grads[0]))
        return told(lambda: doubled(x).sum().backward()), x.grad

    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        for returned in (
            lambda g: (g[0] * 10,),
            lambda g: [g[0] * 10],
            lambda g: (None,),
            lambda g: g[0] * 10,
            lambda g: (g[0], g[0]),
            lambda g: (),
            lambda g: 3,
            lambda g: (3,),
            lambda g: (torch.ones(3),),
            lambda g: (g[0].double(),),
        ):
            yield register, outcome_of(returned, register)


@program
def a_module_without_inputs_that_require_grad_takes_no_other_gradients(torch: Any) -> Iterator[Any]:
    w = leaf(torch, 1.0, 2.0)
    for returned in (None, (None,), (torch.ones(2),), 3):
        scaled = module(torch, lambda a: a * w)
        scaled.register_full_backward_hook(lambda m, grad_input, grad_output, r=returned: r)
        yield told(lambda m=scaled: m(torch.ones(2)).sum().backward())


@program
def several_module_hooks_run_one_after_the_other(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 1.0, 2.0)
    doubled = module(torch, lambda a: a * 2)
    first = doubled.register_full_backward_hook(lambda m, gi, go: said.append(("1", gi, go)) or (gi[0] * 2,))
    doubled.register_full_backward_hook(lambda m, gi, go: said.append(("2", gi, go)) or (gi[0] * 3,))
    doubled.register_full_backward_hook(lambda m, gi, go: said.append("prepended"), prepend=True)
    doubled.register_full_backward_pre_hook(lambda m, go: said.append(("before", go)) or (go[0] * 5,))
    output = doubled(x).sum()
    first.remove()  # too late for this call
    output.backward()
    yield said, x.grad
    said.clear()
    doubled(x).sum().backward()
    yield said


@program
def module_hooks_stay_silent_in_a_second_derivative(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 1.0, 2.0)
    cubed = watched(torch, lambda a: a**3, said)
    (g,) = torch.autograd.grad(cubed(x).sum(), x, create_graph=True)
    yield len(said), said[-1][1][0].requires_grad
    yield torch.autograd.grad(g.sum(), x), len(said)
    cubed.register_full_backward_hook(lambda m, grad_input, grad_output: (grad_input[0] * 2,))
    (g,) = torch.autograd.grad(cubed(x).sum(), x, create_graph=True)
    yield g, torch.autograd.grad(g.sum(), x)


@program
def the_old_kind_of_module_hook_sees_the_last_op(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 1.0, 2.0)
    old = module(torch, lambda a: a * 2)
    old.register_backward_hook(lambda m, grad_input, grad_output: said.append((grad_input, grad_output)))
    old(x).sum().backward()
    yield said
    yield told(lambda: old.register_full_backward_hook(lambda *a: None) and None)
    new = module(torch, lambda a: a * 2)
    new.register_full_backward_hook(lambda *a: None)
    yield told(lambda: new.register_backward_hook(lambda *a: None) and None)


@program
def hooks_of_a_module_and_of_nodes_and_leaves_take_turns(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = torch.ones(2, 3, requires_grad=True)
    linear = torch.nn.Linear(3, 2)
    linear.register_full_backward_hook(lambda m, grad_input, grad_output: said.append("module"))
    loss = linear(x).sum()
    queue = [loss.grad_fn]
    for node in queue:
        node.register_prehook(lambda g, n=node: said.append(f"before {n.name()}"))
        node.register_hook(lambda i, o, n=node: said.append(f"after {n.name()}"))
        queue += [after for after, _ in node.next_functions if after is not None]
    for name, t in (("x", x), ("weight", linear.weight), ("bias", linear.bias)):
        t.register_hook(lambda g, n=name: said.append(f"hook of {n}"))
        t.register_post_accumulate_grad_hook(lambda t, n=name: said.append(f"accumulated {n}"))
    loss.backward()
    yield said
