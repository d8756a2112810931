"""The recorder that stays on changes nothing: each program runs plainly and watched, and both have the same bits."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812
from torch.overrides import TorchFunctionMode  # noqa: E402

from ..torch_features import FEATURES, NEEDS  # noqa: E402
from ..torch_hooked import HOOKED, SAID  # noqa: E402
from ..torch_models import MODELS, VERSION  # noqa: E402
from .watched import LOOPS, Case, assert_harmless, error_of, noisy  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("only_new_objects"),
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
]
PROGRAMS = {**MODELS, **FEATURES, **HOOKED}


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


@pytest.mark.parametrize("name", LOOPS)
def test_every_loop_runs_as_it_would(name: str) -> None:
    assert_harmless(lambda: LOOPS[name](8), 256_000_000, 0)


# -- whole programs -----------------------------------------------------------------------------------------------------

CASES: dict[str, Case] = {}


def case(run: Case) -> Case:
    CASES[run.__name__] = run
    return run


def _training(make: Callable[[Any], Any]) -> Case:
    def run():
        net, x = noisy(), torch.randn(6, 4)
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
CASES["adam_one_by_one"] = _training(lambda p: torch.optim.AdamW(p, 0.01, foreach=False, amsgrad=True))
CASES["lbfgs"] = _training(lambda p: torch.optim.LBFGS(p, max_iter=4, line_search_fn="strong_wolfe"))


@case
def swapped():
    net, x = noisy(), torch.randn(2, 4)
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
    net, x = noisy(), torch.randn(2, 4)
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
    net = noisy()
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
    net, x = noisy(), torch.randn(5, 4)
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


@pytest.mark.parametrize("name", CASES)
def test_every_case_runs_as_it_would(name: str) -> None:
    assert_harmless(CASES[name], 256_000_000, 0)
