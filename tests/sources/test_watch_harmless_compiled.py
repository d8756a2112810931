"""The recorder that stays on changes neither what PyTorch compiles nor its fast paths and transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from .watched import Case, assert_harmless, noisy  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("only_new_objects"),
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
]
CASES: dict[str, Case] = {}


def case(run: Case) -> Case:
    CASES[run.__name__] = run
    return run


def _fast_path(mode: Callable[[], Any], nested: bool) -> Case:
    def run():
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
        net = nn.TransformerEncoder(layer, 2, enable_nested_tensor=nested).eval()
        attention, x = nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.randn(2, 4, 8)
        mask = torch.tensor([[False, False, False, True], [False] * 4])
        seen: list[str] = []
        real = torch._transformer_encoder_layer_fwd, torch._native_multi_head_attention
        torch._transformer_encoder_layer_fwd = lambda *a, **k: (seen.append("layer"), real[0](*a, **k))[1]
        torch._native_multi_head_attention = lambda *a, **k: (seen.append("attention"), real[1](*a, **k))[1]
        try:
            with mode():
                out = [net(x), net(x, src_key_padding_mask=mask), *attention(x, x, x)]
                return [[o.clone() for o in out], seen]
        finally:
            torch._transformer_encoder_layer_fwd, torch._native_multi_head_attention = real

    return run


CASES["fast_path_no_grad"], CASES["fast_path_inference"] = (
    _fast_path(torch.no_grad, False),
    _fast_path(torch.inference_mode, True),
)


def _compiled(backend: str, of: Callable[[], Any], *shape: int, training: bool = True) -> Case:
    def run():
        torch._dynamo.reset()
        graphs: list[str] = []

        def counting(module: Any, inputs: Any) -> Any:
            lines = module.print_readable(print_output=False).splitlines()
            graphs.append("\n".join(line for line in lines if not line.lstrip().startswith("#")))
            return torch._dynamo.lookup_backend(backend)(module, inputs)

        net = of().train(training)
        fast, optimizer, out = torch.compile(net, backend=counting), torch.optim.SGD(net.parameters(), 0.1), []
        for _ in range(3):
            with torch.set_grad_enabled(training):
                y = fast(torch.randn(*shape))
            out.append(y.detach())
            if training:
                y.square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
        return out, list(net.parameters()), graphs

    return run


CASES["compiled_eager"] = _compiled("eager", noisy, 6, 4)
CASES["compiled_aot"] = _compiled("aot_eager", noisy, 6, 4)
CASES["compiled_encoder"] = _compiled(
    "eager", lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, 4, 8, training=False
)


@case
def compiled_with_donated_buffers():
    torch._dynamo.reset()

    @torch.compile(backend="aot_eager")
    def f(v: Any) -> Any:
        return (v.sin().exp() * v.cos()).sum()

    x = torch.randn(3, requires_grad=True)
    with torch._functorch.config.patch(donated_buffer=True):
        for scale in (1, 2):
            (f(x) * scale).backward()
    return x.grad


@case
def compiled_optimizer():
    torch._dynamo.reset()
    net, x = noisy(), torch.randn(6, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    step = torch.compile(optimizer.step, backend="eager")
    for _ in range(3):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        step()
    return list(net.parameters())


@case
def functional():
    net, x = noisy().eval(), torch.randn(5, 4)
    params = dict(net.named_parameters())
    loss = lambda p, v: torch.func.functional_call(net, p, (v,)).square().sum()  # noqa: E731
    per_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(params, x)
    jacobian = torch.func.jacrev(lambda v: torch.func.functional_call(net, params, (v,)))(x)
    second = torch.func.hessian(lambda v: (v.sin() ** 2).sum())(x[0])
    value, push = torch.func.vjp(lambda v: v.tanh().mul_(2), x)
    forward = torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))
    return per_sample, jacobian, second, value, push(torch.ones_like(value)), forward


@pytest.mark.parametrize("name", CASES)
def test_every_case_runs_as_it_would(name: str) -> None:
    assert_harmless(CASES[name], 256_000_000, 0)
