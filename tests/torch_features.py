"""Small PyTorch programs, each for one thing that autograd can do; of the same form as those of `torch_models`."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from .torch_functions import Boxed, Doubled, NotMaterialized, Once, SomeOutputs, TwoOutputs
from .torch_models import Program

FEATURES: dict[str, Program] = {}
NEEDS = {  # the release of PyTorch from which on a program runs, with us or without
    "nested_tensors": (2, 6),
    "strided_nested_tensors": (2, 6),
    "boxed_function_with_an_unused_output": (2, 9),
    "compiled_with_an_unused_output": (2, 9),
    "a_hook_of_any_of_several_tensors": (2, 3),
}


def feature(make: Program) -> Program:
    """Enter a program under its name."""
    FEATURES[make.__name__] = make
    return make


def leaf(*shape: int, **options: Any) -> Any:
    """A random leaf."""
    return torch.randn(*shape, requires_grad=True, **options)


# -- custom Functions ---------------------------------------------------------------------------------------------------


@feature
def function_with_two_outputs():
    a, b = leaf(3), leaf(3)
    return (lambda: sum(o.sum() for o in TwoOutputs.apply(a, 2.0, b))), [a, b]


@feature
def function_with_an_unused_output():
    a, b = leaf(3), leaf(3)
    return (lambda: TwoOutputs.apply(a, 2.0, b)[1].sum()), [a, b]


@feature
def boxed_function_with_an_unused_output():
    a = leaf(3)
    return (lambda: Boxed.apply(a)[0].sum()), [a]


@feature
def function_with_a_constant():
    a, b = torch.randn(3), leaf(3)
    return (lambda: TwoOutputs.apply(a, 2.0, b)[0].sum()), [b]


@feature
def function_without_materialized_grads():
    a = leaf(3)
    return (lambda: NotMaterialized.apply(a)[0].sum()), [a]


@feature
def function_differentiable_once():
    a, b = leaf(3), leaf(3)
    return (lambda: Once.apply(a, b).sum()), [a, b]


@feature
def function_in_place():
    a = leaf(3)
    return (lambda: Doubled.apply(a.clone()).sum()), [a]


@feature
def function_with_non_differentiable_outputs():
    a, b = leaf(3), leaf(3)
    return (lambda: SomeOutputs.apply(a, b)[0].sum()), [a, b]


# -- checkpointing and saved tensors ------------------------------------------------------------------------------------


def _checkpointed(use_reentrant: bool) -> Program:
    def make():
        net, x = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 3)), leaf(2, 3)
        return (lambda: checkpoint(net, x.sin(), use_reentrant=use_reentrant).square().sum()), [x, *net.parameters()]

    return make


FEATURES["checkpoint"], FEATURES["checkpoint_reentrant"] = _checkpointed(False), _checkpointed(True)


@feature
def saved_on_cpu():
    x, w = leaf(3, 3), leaf(3, 3)

    def forward():
        with torch.autograd.graph.save_on_cpu():
            return (x @ w).square().sum()

    return forward, [x, w]


@feature
def saved_tensors_hooks():
    x = leaf(3)

    def forward():
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (t.detach().clone(),), lambda kept: kept[0]):
            return (x.sin() * x).square().sum()

    return forward, [x]


# -- nodes with several outputs -----------------------------------------------------------------------------------------


@feature
def chunk_with_unused_outputs():
    x = leaf(6, 2)
    return (lambda: x.sin().chunk(3)[1].sum()), [x]


@feature
def unbind_max_and_sort():
    x = leaf(3, 4)
    return (lambda: x.unbind(1)[2].sum() + x.max(1)[0].prod() + x.sort(1)[0][:, 1].sum() + x.median(1)[0].sum()), [x]


@feature
def decompositions():
    x = leaf(3, 3)
    return (lambda: torch.linalg.svd(x)[1].sum() + torch.linalg.qr(x)[1].sum() + torch.linalg.slogdet(x)[1]), [x]


@feature
def views_changed_in_place():
    x = leaf(4)

    def forward():
        y = x * 2
        y[1:3].mul_(3)
        y[0] = x[3] * 5
        return y.square().sum()

    return forward, [x]


# -- types and layouts --------------------------------------------------------------------------------------------------


@feature
def complex_numbers():
    x, w = leaf(4), leaf(4, dtype=torch.complex64)
    return (lambda: (torch.fft.fft(x * w).abs() + (w.conj() * x).real + torch.view_as_real(w).sum(-1)).sum()), [x, w]


@feature
def embedding_with_sparse_grad():
    e, b = nn.Embedding(5, 3, sparse=True), nn.EmbeddingBag(5, 3, sparse=True, mode="sum")
    i = torch.tensor([[0, 2], [2, 4]])
    return (lambda: e(i).sin().sum() + b(i).cos().sum()), [e.weight, b.weight]


@feature
def sparse_and_dense_grads_meet():
    e, i = nn.Embedding(5, 3, sparse=True), torch.tensor([0, 2, 2])
    return (lambda: e.weight.square().sum() + e(i).sin().sum() + (e.weight * 2).sum()), [e.weight]


@feature
def dense_and_sparse_grads_meet():
    e, i = nn.Embedding(5, 3, sparse=True), torch.tensor([0, 2, 2])
    return (lambda: e(i).sin().sum() + e.weight.square().sum() + e(i).cos().sum()), [e.weight]


@feature
def sparse_grads_meet():
    e, i = nn.Embedding(6, 3, sparse=True), torch.tensor([0, 1, 1, 5])
    return (lambda: e(i).sin().sum() + e(i[:2]).sum() * 2), [e.weight]


@feature
def sparse_tensors():
    s, d = torch.eye(3).to_sparse().requires_grad_(), leaf(3, 2)
    return (lambda: torch.sparse.mm(s * 2, d).square().sum()), [s, d]


@feature
def nested_tensors():
    a, b = leaf(2, 3), leaf(4, 3)
    w = leaf(3, 2)

    def forward():
        n = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
        return torch.nested.to_padded_tensor((n @ w).sin(), 0.0).sum()

    return forward, [a, b, w]


@feature
def strided_nested_tensors():
    a, w = leaf(3, 2), leaf(2)

    def forward():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch calls them a prototype
            n = torch.nested.as_nested_tensor([a, a[:1]])
        return (torch.nested.to_padded_tensor(n * 2, 0.0) * w).sum()

    return forward, [a, w]


@feature
def autocast():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2)), torch.randn(2, 3)

    def forward():
        with torch.autocast("cpu", torch.bfloat16):
            return F.mse_loss(net(x).float(), torch.ones(2, 2))

    return forward, list(net.parameters())


@feature
def mixed_types():
    a, b, c = leaf(3, dtype=torch.float64), leaf(3), leaf(3, dtype=torch.bfloat16)
    return (lambda: (a * b + c).sum() + (b.to(torch.float16) * 2).sum()), [a, b, c]


@feature
def meta_tensors():
    net = nn.Linear(3, 2, device="meta")
    return (lambda: net(torch.empty(4, 3, device="meta")).sum()), list(net.parameters())


@feature
def quantized():
    x = leaf(4)
    scale = torch.tensor([0.1], requires_grad=True)

    def forward():
        q = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)
        return (q + torch._fake_quantize_learnable_per_tensor_affine(x, scale, torch.zeros(1), -128, 127)).square().sum()

    return forward, [x, scale]


# -- roots --------------------------------------------------------------------------------------------------------------


@feature
def vector_root():
    x = leaf(3)
    return (lambda: (x.exp(), torch.tensor([1.0, 0.0, 2.0]))), [x]


@feature
def leaf_as_root():
    x = torch.tensor(2.0, requires_grad=True)
    return (lambda: x), [x]


@feature
def output_of_several_as_root():
    x = leaf(4)
    return (lambda: (x.sin().split(2)[1], torch.ones(2))), [x]


@feature
def second_order():
    x = leaf(3)

    def forward():
        (g,) = torch.autograd.grad((x**3).sin().sum(), x, create_graph=True)
        (h,) = torch.autograd.grad(g.square().sum(), x, create_graph=True)
        return h.sum()

    return forward, [x]


@feature
def grads_that_are_there_before():
    x, w = leaf(3), leaf(3)
    w.grad = torch.ones(3)
    return (lambda: (x * w).sum()), [x, w]


# -- other ways to run --------------------------------------------------------------------------------------------------


@feature
def functional_transforms():
    w, x = leaf(3), torch.randn(4, 3)

    def forward():
        slope = torch.func.vmap(torch.func.grad(lambda r: (r * w).sin().sum()))(x)
        return slope.square().sum()

    return forward, [w]


@feature
def compiled():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)), torch.randn(2, 3)
    fast = torch.compile(net, backend="aot_eager")
    return (lambda: fast(x).sum()), list(net.parameters())


@feature
def compiled_with_an_unused_output():
    net, x = nn.Linear(3, 4), torch.randn(2, 3)
    fast = torch.compile(lambda v: (net(v), net(v) * 2), backend="aot_eager")
    return (lambda: fast(x)[0].sum()), list(net.parameters())


@feature
def traced():
    net, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)), torch.randn(2, 3)
    return (lambda: net(x).clone().mul_(2).sum() + F.linear(x, net[0].weight).sum()), list(net.parameters())


@feature
def data_parallel():
    net, x = nn.Linear(3, 2), torch.randn(4, 3)
    return (lambda: nn.DataParallel(net)(x).square().sum()), list(net.parameters())


@feature
def parametrized_weights():
    net, x = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)), torch.randn(2, 3)
    return (lambda: net(x).square().sum()), list(net.parameters())


@feature
def expanded_and_broadcast():
    a, b = leaf(1), leaf(3, 1)
    return (lambda: (a.expand(2, 3, 4) * b).sum() + (a + b).mean()), [a, b]


@feature
def nothing_arrives():
    a, b = leaf(3), leaf(3)
    return (lambda: torch.where(a > 100, b, a).sum() + (a.round() * b.detach()).sum() + torch.sgn(b).sum()), [a, b]
