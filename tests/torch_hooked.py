"""Small PyTorch programs in which code of the user's runs in the backward pass; of the same form as those of `torch_models`.

`SAID` is what the hooks have said, in order: it must be the same however the pass is run.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .torch_features import leaf
from .torch_functions import TwoOutputs
from .torch_models import Program

HOOKED: dict[str, Program] = {}
SAID: list[Any] = []


def hooked(make: Program) -> Program:
    """Enter a program under its name."""
    HOOKED[make.__name__] = make
    return make


def _says(what: str, result: Any = None) -> Any:
    def hook(*given: Any) -> Any:
        SAID.append((what, [g.shape if isinstance(g, torch.Tensor) else g is None for g in given]))
        return result(*given) if result else None

    return hook


def _double(p: Any) -> None:
    p.grad.mul_(2)


@hooked
def tensor_hooks():
    x = leaf(3)
    x.register_hook(_says("leaf", lambda g: g * 2))

    def forward():
        y = x.sin()
        y.register_hook(_says("first", lambda g: g + 1))
        y.register_hook(_says("second"))
        y.register_hook(_says("third", lambda g: g * 3))
        return (y * x).sum()

    return forward, [x]


@hooked
def retained_grads_between_hooks():
    x = leaf(3)
    kept = []

    def forward():
        y = x.exp()
        y.register_hook(_says("before", lambda g: g * 2))
        y.retain_grad()
        y.register_hook(_says("after", lambda g: g * 5))
        kept[:] = [y]
        return (y * y).sum()

    return forward, [x, kept]


@hooked
def hooks_of_nodes():
    x, w = leaf(3), leaf(3)

    def forward():
        y = x * w
        y.grad_fn.register_prehook(_says("pre", lambda g: (g[0] * 2,)))
        y.grad_fn.register_hook(_says("post", lambda gi, go: (gi[0] + go[0], gi[1])))
        return y.sum()

    return forward, [x, w]


@hooked
def post_accumulate_hooks():
    net, x = nn.Linear(3, 2), torch.randn(4, 3)
    for p in net.parameters():
        p.register_post_accumulate_grad_hook(_says("accumulated", _double))
    return (lambda: net(x).square().sum()), list(net.parameters())


@hooked
def optimizer_in_the_backward_pass():
    net, x = nn.Linear(3, 2), torch.randn(4, 3)

    def update(p: Any) -> None:
        with torch.no_grad():
            p.add_(p.grad, alpha=-0.1)
        p.grad = None

    for p in net.parameters():
        p.register_post_accumulate_grad_hook(_says("updated", update))
    return (lambda: net(x).square().sum()), list(net.parameters())


@hooked
def hooks_that_remove_themselves():
    x = leaf(3)

    def forward():
        y = x.sin()
        handles = []
        handles.append(y.register_hook(_says("once", lambda g: (handles[0].remove(), g * 2)[1])))
        y.register_hook(_says("always"))
        z = y * 2
        at = z.grad_fn.register_prehook(_says("pre once", lambda g: at.remove()))
        after = z.grad_fn.register_hook(_says("post once", lambda gi, go: after.remove()))
        return z.sum()

    return forward, [x]


@hooked
def module_backward_hooks():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), leaf(2, 3)
    net[1].register_full_backward_hook(_says("full", lambda m, gi, go: (gi[0] * 2,)))
    net[2].register_full_backward_pre_hook(_says("full pre", lambda m, go: (go[0] * 3,)))
    net[0].register_forward_hook(_says("forward"))
    return (lambda: net(x).sum()), [x, *net.parameters()]


@hooked
def hooks_on_outputs_of_several():
    x = leaf(6)

    def forward():
        a, b, c = x.sin().chunk(3)
        b.register_hook(_says("b", lambda g: g * 2))
        c.register_hook(_says("c"))
        a.grad_fn.register_prehook(_says("pre"))
        return (a * 2 + b).sum()

    return forward, [x]


@hooked
def hooks_on_a_function_with_an_unused_output():
    x, kept = leaf(3), []

    def forward():
        a, _ = TwoOutputs.apply(x * 1, 2.0, x)
        a.register_hook(_says("a", lambda g: g * 2))
        a.retain_grad()
        a.grad_fn.register_prehook(_says("pre", lambda g: (g[0] * 3, g[1])))
        a.grad_fn.register_hook(_says("post"))
        kept[:] = [a]
        return a.sum()

    return forward, [x, kept]


@hooked
def hooks_of_several_tensors():
    x, w = leaf(3), leaf(3)

    def forward():
        y, z = x.sin(), w.cos()
        torch.autograd.graph.register_multi_grad_hook([y, z], _says("all"))
        return (y * z).sum()

    return forward, [x, w]


@hooked
def a_hook_of_any_of_several_tensors():
    x, w = leaf(3), leaf(3)

    def forward():
        y, z = x.sin(), w.cos()
        torch.autograd.graph.register_multi_grad_hook([y, z], _says("all"))
        torch.autograd.graph.register_multi_grad_hook([y, z], _says("any"), mode="any")
        return (y * z).sum()

    return forward, [x, w]


@hooked
def hooks_of_a_leafs_node():
    x = leaf(3)
    node = torch.autograd.graph.get_gradient_edge(x).node
    node.register_prehook(_says("pre", lambda g: (g[0] * 2,)))
    node.register_hook(_says("post"))
    SAID.append(type(node).__name__)  # the node lives as long as somebody has it
    return (lambda: (x * x).sum() if node else None), [x]


@hooked
def a_backward_pass_inside_a_hook():
    x, w = leaf(3), leaf(3)

    def inner(g: Any) -> Any:
        with torch.enable_grad():
            (h,) = torch.autograd.grad((w.detach().requires_grad_() * 1 * w).sum(), w)
        return g * h

    def forward():
        y = x * 2
        y.register_hook(_says("inner", inner))
        return y.sum()

    return forward, [x]


@hooked
def callbacks_for_the_end():
    x = leaf(3)

    def queue(g: Any) -> None:
        torch.autograd.Variable._execution_engine.queue_callback(lambda: SAID.append("the end"))

    def forward():
        y = x * 2
        y.register_hook(_says("queues", queue))
        return y.sum()

    return forward, [x]
