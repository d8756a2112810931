"""The recorder that stays on changes nothing: each program runs plainly and watched, and both have the same bits."""

from __future__ import annotations

import copy
import gc
import io
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import autograd_viz as av  # noqa: E402

from ..torch_features import FEATURES, NEEDS  # noqa: E402
from ..torch_hooked import HOOKED, SAID  # noqa: E402
from ..torch_models import MODELS, VERSION  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")]
PROGRAMS = {**MODELS, **FEATURES, **HOOKED}


@pytest.fixture(scope="module", autouse=True)
def _only_new_objects() -> Iterator[None]:
    """The collector need not look at PyTorch itself."""
    gc.collect()
    gc.freeze()
    torch.set_warn_always(True)  # not only the first time
    yield
    torch.set_warn_always(False)
    gc.unfreeze()


def bits(x: Any) -> Any:  # noqa: PLR0911
    """Everything that can be told of a result."""
    if isinstance(x, list | tuple):
        return [bits(v) for v in x]
    if isinstance(x, dict):
        return {k: bits(v) for k, v in x.items()}
    if not isinstance(x, torch.Tensor):
        return x if isinstance(x, int | float | str | bytes | type(None)) else type(x).__name__
    if x.is_nested:
        return [bits(part) for part in x.unbind()]
    if x.layout is not torch.strided:
        return (str(x.layout), bits(x.detach().to_dense()))
    looks = (type(x).__name__, str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad, x.is_leaf)
    if x.is_meta:
        return looks
    flat = x.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return (*looks, flat.view(torch.uint8).tolist())


def outcome(run: Callable[[], Any], keep: int | None) -> Any:
    """What a program gives, says, raises and warns of, and where it leaves the random numbers; `keep`: under av.watch()."""
    SAID.clear()
    torch.manual_seed(0)
    watching = None if keep is None else av.watch(keep)
    result: Any = None
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = run()
            except BaseException as error:
                result = (type(error).__name__, str(error))
    finally:
        if watching is not None:
            watching.close()
            assert watching.faults == (), watching.faults
    once = "torch.jit"  # PyTorch's own, of its first call
    said = [(w.category.__name__, str(w.message).partition("\n  File")[0]) for w in warned if once not in str(w.message)]
    return bits(result), bits(list(SAID)), said, torch.get_rng_state().tolist()


def assert_harmless(run: Callable[[], Any], *keeps: int) -> None:
    """Plain, and watched with so much kept."""
    plain = outcome(run, None)
    for keep in keeps:
        assert outcome(run, keep) == plain


# -- every program that the tests know ----------------------------------------------------------------------------------


def _param(name: str) -> Any:
    needs = NEEDS.get(name, VERSION)
    return pytest.param(name, marks=pytest.mark.skipif(needs > VERSION, reason=f"needs PyTorch {needs}, this is {VERSION}"))


def twice_through(name: str) -> Any:
    """Three passes: the second and third through the same graph, which is refused or not."""
    forward, leaves = PROGRAMS[name]()
    found: list[Any] = []
    for _ in range(2):
        root = forward()
        root, gradient = root if isinstance(root, tuple) else (root, None)
        for _ in range(2):
            try:
                root.backward(gradient)
            except RuntimeError as error:
                found.append(str(error))
            found.append([None if t.grad is None else t.grad.clone() for some in leaves
                          for t in (some if isinstance(some, list) else [some])])  # fmt: skip
        found.append(root.detach())
    return found


@pytest.mark.parametrize("name", [_param(name) for name in PROGRAMS])
def test_every_program_runs_as_it_would(name: str) -> None:
    assert_harmless(lambda: twice_through(name), 256_000_000)


# -- whole programs -----------------------------------------------------------------------------------------------------

Case = Callable[[], Any]
CASES: dict[str, Case] = {}


def case(run: Case) -> Case:
    CASES[run.__name__] = run
    return run


def mlp() -> Any:
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 1))


def error_of(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def _training(make: Callable[[Any], Any]) -> Case:
    def run():
        net, x = mlp(), torch.randn(6, 4)
        optimizer, losses = make(net.parameters()), []

        def closure() -> Any:
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            losses.append(loss.item())
            return loss

        for _ in range(4):
            if isinstance(optimizer, torch.optim.LBFGS):
                optimizer.step(closure)
            else:
                closure()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
        return [*net.parameters(), losses, optimizer.state_dict()]

    return run


CASES["sgd"] = _training(lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.01))
CASES["adam"] = _training(lambda p: torch.optim.Adam(p, 0.01))
CASES["adam_one_by_one"] = _training(lambda p: torch.optim.AdamW(p, 0.01, foreach=False, amsgrad=True))
CASES["lbfgs"] = _training(lambda p: torch.optim.LBFGS(p, max_iter=4, line_search_fn="strong_wolfe"))


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


CASES["compiled_eager"] = _compiled("eager", mlp, 6, 4)
CASES["compiled_aot"] = _compiled("aot_eager", mlp, 6, 4)
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
    net, x = mlp(), torch.randn(6, 4)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    step = torch.compile(optimizer.step, backend="eager")
    for _ in range(3):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        step()
    return list(net.parameters())


@case
def functional():
    net, x = mlp().eval(), torch.randn(5, 4)
    params = dict(net.named_parameters())
    loss = lambda p, v: torch.func.functional_call(net, p, (v,)).square().sum()  # noqa: E731
    per_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(params, x)
    jacobian = torch.func.jacrev(lambda v: torch.func.functional_call(net, params, (v,)))(x)
    second = torch.func.hessian(lambda v: (v.sin() ** 2).sum())(x[0])
    value, push = torch.func.vjp(lambda v: v.tanh().mul_(2), x)
    forward = torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))
    return per_sample, jacobian, second, value, push(torch.ones_like(value)), forward


def _checkpointed(use_reentrant: bool) -> Case:
    def run():
        net, x = mlp(), torch.randn(3, 4, requires_grad=True)
        net[3].register_full_backward_hook(lambda *_: SAID.append("back"))
        net[0].register_forward_hook(lambda *_: SAID.append("forward"))
        for _ in range(2):
            y = checkpoint(net, x * 1, use_reentrant=use_reentrant)
            (y.sum() + checkpoint(net[0], x * 2, use_reentrant=use_reentrant).sum()).backward()
        return [x.grad, *(p.grad for p in net.parameters())]

    return run


CASES["checkpointed"], CASES["checkpointed_reentrant"] = _checkpointed(False), _checkpointed(True)


@case
def saved_tensors_hooks_run_as_often():
    x = torch.randn(4, requires_grad=True)
    for _ in range(3):
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: (SAID.append("pack"), t.clone())[1], lambda t: (SAID.append("unpack"), t)[1]
        ):
            y = (x.sin() * x).exp().sum()
        y.backward()
        SAID.append(error_of(y.backward))
    return x.grad


@case
def anomaly():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        bad = error_of(lambda: (x.sqrt() * 0).sum().backward())
        (x * 2).sum().backward()
    return bad, x.grad


@case
def swapped():
    net, x = mlp(), torch.randn(2, 4)
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        loss = net(x).sum()
        loss.backward()
        net.to(torch.float64)
        net.load_state_dict({k: v * 2 for k, v in net.state_dict().items()})
        more = net(x.double()).sum()
        more.backward()
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    a, b = nn.Parameter(torch.ones(2)), torch.zeros(2).mul(3)
    c = (a.detach() * 3).requires_grad_()
    (c * 2).sum().backward()
    torch.utils.swap_tensors(a, c)
    return [*net.parameters(), a, b, c, a.grad, c.grad]


@case
def copied_and_saved():
    net, x = mlp(), torch.randn(2, 4)
    optimizer = torch.optim.Adam(net.parameters())
    loss = net(x).sum()
    loss.backward()
    optimizer.step()
    other = copy.deepcopy(net)
    with torch.no_grad():
        y = x.sin()
    file = io.BytesIO()
    torch.save({"net": net.state_dict(), "opt": optimizer.state_dict(), "p": net[0].weight, "y": y, "whole": net}, file)
    size = len(file.getvalue())
    file.seek(0)
    back = torch.load(file, weights_only=False)
    refused = error_of(lambda: copy.deepcopy(loss))
    return other.state_dict(), back["net"], back["opt"], back["p"], back["y"], size, vars(y), copy.deepcopy(y), refused


@case
def inference_tensors():
    with torch.inference_mode():
        a = torch.ones(3)
        a += 1
        a[0] = 5
        b = a * 2
    w = torch.ones(3, requires_grad=True)
    refused = error_of(lambda: (w * b).sum())
    (w * b.clone()).sum().backward()
    return a, b, refused, w.grad, error_of(lambda: b.add_(1))


class Counting(torch.Tensor):
    """A user's class of tensors that tells of every call."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        SAID.append(getattr(func, "__name__", "?"))
        return super().__torch_function__(func, types, args, kwargs or {})


@case
def a_class_that_sees_functions():
    x = torch.randn(3).as_subclass(Counting).requires_grad_()
    w = nn.Parameter(torch.randn(3).as_subclass(Counting))
    for _ in range(2):
        y = x * 2 + w.sin()
        z = torch.cat([y, y.detach()]).chunk(2)[0]
        z += 1
        z.sum().backward()
    return x.grad, w.grad, (x > 0).sum().item()


class Scribe(TorchFunctionMode):
    """A user's mode that tells of every call."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        SAID.append(getattr(func, "__name__", "?"))
        return func(*args, **(kwargs or {}))


@case
def a_mode_of_the_users():
    net = mlp()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with Scribe():
        net(torch.ones(1, 4)).sum().backward()
        optimizer.step()
    net(torch.ones(1, 4)).sum().backward()
    return list(net.parameters()), torch._C._len_torch_function_stack() > 1


@case
def a_default_device():
    torch.set_default_device("meta")
    try:
        a = torch.ones(2)
        with torch.device("cpu"):
            b = torch.ones(2)
            nn.Linear(2, 2)(b).sum().backward()
        c = nn.Linear(2, 2).weight
    finally:
        torch.set_default_device(None)
    return a, b, c, torch.zeros(2)


@case
def forbidden_views():
    x = torch.ones(4, requires_grad=True) * 1
    with torch.no_grad():
        v = x[:2]
    said = [error_of(lambda: v.mul_(2)), error_of(lambda: v.grad_fn)]
    a, b = x.unbind(0)[:2]
    said.append(error_of(lambda: a.mul_(2)))
    y = torch.ones(4, requires_grad=True)
    said.append(error_of(lambda: y.add_(1)))
    with torch.no_grad():
        w = y.view(2, 2)
        w[0] = 3
        y.add_(w.flatten())
    said += [error_of(lambda: (b * v.sum()).backward()), error_of(lambda: print(v, file=io.StringIO()))]
    return said, y.detach()


@case
def twice():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    said = []
    y = x.exp()
    (y * w).sum().backward(retain_graph=True)
    said.append(error_of(lambda: (y * 2).sum().backward()))
    said += [error_of(lambda: (y * 2).sum().backward()), x.grad.clone()]
    z = x.sin()
    a, b = (z * w).sum(), (z * 3).sum()
    a.backward()
    said += [error_of(b.backward), error_of(a.backward), x.grad.clone(), w.grad.clone()]
    p, q = x.sum(), (x * w).sum()
    for _ in range(2):
        p.backward()
        said.append(error_of(q.backward))
    said.append(error_of(lambda: torch.autograd.grad(q, x)))
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (g * w).sum().backward()
    said += [error_of(lambda: g.sum().backward()), x.grad.clone(), w.grad.clone()]
    return said


@case
def other_ways_to_start_a_pass():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    said: list[Any] = []
    make = lambda: ((x * w).exp().sum(), (x.sin() * w).sum())  # noqa: E731
    edge = torch.autograd.graph.get_gradient_edge
    for start in (
        lambda a, b: torch.autograd.backward(a, None, False),
        lambda a, b: torch.autograd.backward([a, b], [torch.ones(()), torch.ones(())]),
        lambda a, b: torch.autograd.backward(a, inputs=[x]),
        lambda a, b: torch.autograd.backward(edge(a), torch.ones(())),
        lambda a, b: torch.autograd.grad([a, b], [x, w], retain_graph=True),
        lambda a, b: torch.autograd.functional.vjp(lambda v: (v * w).sin(), x, torch.ones(3)),
        lambda a, b: a.backward(torch.ones(()), False, False, [w]),
        lambda a, b: a.backward(gradient=torch.tensor(2.0), create_graph=True),
    ):
        a, b = make()
        said.append(error_of(a.backward))
        said += [error_of(lambda: start(a, b)) for _ in range(2)]  # noqa: B023
        said += [error_of(lambda: start(*make())), error_of(b.backward), x.grad.clone(), w.grad.clone()]  # noqa: B023
        x.grad = w.grad = None
    return said


@case
def nodes_in_a_list():
    x, held, said = torch.randn(3, requires_grad=True), [], []
    for _ in range(4):
        loss = x.exp().sin().sum()
        held.append(loss.grad_fn)
        loss.backward()
    for node in held[:-1]:  # the last is kept
        sin = node.next_functions[0][0]
        said.append(error_of(lambda sin=sin: sin._saved_self.tolist()))
    return said


@case
def a_graph_in_parts():
    """Two roots over one trunk, of which the first takes a part."""
    x = torch.randn(4, 4, requires_grad=True)
    said = []
    for _ in range(3):
        trunk = (x @ x).relu()
        left, right = trunk.split(2)
        a, b = left.exp().sum(), right.sigmoid().sum()
        a.backward()
        said += [error_of(b.backward), x.grad.clone()]
        x.grad = None
    return said, error_of(lambda: left.sum().backward()), error_of(lambda: trunk.detach().sum().item())


@case
def old_outputs_in_a_list():
    x, old, said = torch.randn(3, requires_grad=True), [], []
    for k in range(6):
        y = (x * k).sin()
        loss = y.exp().sum()
        loss.backward()
        if k % 2:
            old += [y, loss]
    said += [error_of(lambda t=t: t.sum().backward()) for t in old]
    return said, x.grad


@case
def carried_state():
    cell, h, said = nn.RNNCell(2, 3), torch.zeros(1, 3), []
    for k in range(4):
        h = cell(torch.ones(1, 2), h)
        said.append(error_of(lambda: h.sum().backward(retain_graph=k == 0)))  # noqa: B023
    h = h.detach()
    cell(torch.ones(1, 2), h).sum().backward()
    return said, [p.grad for p in cell.parameters()]


@case
def gan():
    made, judge, z = mlp(), nn.Linear(1, 1), torch.randn(5, 4)
    one, two = torch.optim.Adam(made.parameters()), torch.optim.Adam(judge.parameters())
    said = []
    for _ in range(3):
        fake = made(z)
        two.zero_grad()
        (judge(fake.detach()).mean() - judge(torch.ones(5, 1)).mean()).backward()
        two.step()
        one.zero_grad()
        judge(fake).mean().backward()
        one.step()
        said.append(error_of(lambda: judge(fake).mean().backward()))  # noqa: B023
    return said, list(made.parameters()), list(judge.parameters())


@case
def a_root_that_is_refused_and_summed():
    x = torch.randn(3, requires_grad=True)
    y = x.sin() * x
    said = [error_of(y.backward), error_of(lambda: y.backward(torch.ones(2)))]
    y.sum().backward()
    return said, x.grad, error_of(lambda: y.sum().backward())


class Fails(torch.autograd.Function):
    """Its backward raises."""

    @staticmethod
    def forward(ctx: Any, a: Any) -> Any:
        ctx.save_for_backward(a)
        return a * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        raise KeyError("in backward")


@case
def passes_that_raise():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    said = []
    h = x.exp()
    first, second = Fails.apply(h.sin()).cos(), (h * w).cos()
    for root in (first, second, first, second):
        said += [error_of(lambda root=root: root.sum().backward()), x.grad, w.grad]
    a = w.sin()
    b = a.exp()
    c = (b * 2).sum() + a.sum()
    b.data.add_(0)
    with torch.no_grad():
        b.mul_(2)
    said += [error_of(c.backward), error_of(c.backward), error_of(lambda: a.sum().backward()), w.grad]
    torch.ones(2, requires_grad=True).sum().backward()
    return said


@case
def a_step_that_raises():
    net = mlp()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def bad(*_: Any) -> None:
        raise KeyboardInterrupt("in a step")

    hook = optimizer.register_step_pre_hook(bad)
    said = []
    for _ in range(2):
        net(torch.ones(1, 4)).sum().backward()
        said.append(error_of(optimizer.step))
    hook.remove()
    optimizer.step()
    return said, list(net.parameters())


@case
def hooks_that_raise():
    x = torch.randn(3, requires_grad=True)

    def bad(g: Any) -> Any:
        raise ValueError("in a hook")

    y = x * 2
    y.register_hook(bad)
    said = [error_of(lambda: (y * x).sum().backward())]
    (x.sin() * x).sum().backward()
    return said, x.grad


@case
def threads():
    found: dict[int, Any] = {}

    def train(k: int) -> None:
        net = nn.Linear(3, 1)
        with torch.no_grad():
            for p in net.parameters():
                p.fill_(0.1 * k)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(2, 3)).square().sum().backward()
            optimizer.step()
        found[k] = [p.detach() for p in net.parameters()]

    workers = [threading.Thread(target=train, args=(k,)) for k in range(3)]
    for w in workers:
        w.start()
    train(3)
    for w in workers:
        w.join()
    return [found[k] for k in range(4)]


@case
def modules_with_methods_of_their_own():
    class Loud(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = nn.Linear(2, 2)

        def parameters(self, recurse: bool = True) -> Any:
            SAID.append("parameters")
            return super().parameters(recurse)

        def __getattr__(self, name: str) -> Any:
            SAID.append(name)
            return super().__getattr__(name)

    net = nn.Sequential(Loud(), nn.LazyLinear(2))
    net.more = Loud()
    return next(iter(net.parameters())), net[0].lin(torch.ones(1, 2))


@case
def scaled_and_cast():
    net, x = mlp(), torch.randn(5, 4)
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), torch.amp.GradScaler("cpu")
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = net(x).float().square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return list(net.parameters()), scaler.state_dict()


@case
def warnings_and_errors():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    said = [y.grad is None, error_of(lambda: x @ torch.ones(2)), error_of(lambda: F.cross_entropy(x, torch.ones(2)))]
    said += [error_of(lambda: torch.ones(2).backward()), error_of(lambda: y.numpy()), error_of(lambda: float(y))]
    (y * y).sum().backward(create_graph=True)
    x.grad = None
    said += [error_of(lambda: torch.autograd.grad(y.sum(), torch.ones(1, requires_grad=True)))]
    said += [error_of(lambda: y.backward(inputs=[])), torch.meshgrid(torch.ones(1), torch.ones(1))[0]]
    return said


@case
def only_some_inputs():
    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    a = x.exp()
    loss = (a * w.sin()).sum()
    loss.backward(inputs=[w])
    said = [x.grad, w.grad.clone(), error_of(lambda: a.sum().backward()), error_of(loss.backward)]
    return said, x.grad, w.grad


@pytest.mark.parametrize("name", CASES)
def test_every_case_runs_as_it_would(name: str) -> None:
    assert_harmless(CASES[name], 256_000_000, 0)
