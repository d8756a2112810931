"""The last pass runs again bit for bit: of models that return several tensors, are called twice, are cast or checkpointed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

from ..libraries import BOTH, torch


def gradients_again(library: Any, model: Any, loss_of: Callable[[Any], Any]) -> tuple[Any, list[Any], list[Any]]:
    """Three steps are trained. The root of the last pass, its gradients, and those of the pass that runs again."""
    optimizer = library.optim.SGD(model.parameters(), lr=0.1)
    library.manual_seed(0)
    with av.watch(model) as run:
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(model).backward()
            real = [p.grad.detach().clone() for p in model.parameters()]
            optimizer.step()
        model.eval()  # after the pass
        with run._loop.opened(None) as (root, gradient, leaves):
            root.backward(gradient)
        assert not any(module.training for module in model.modules())
        assert getattr(run._watch, "faults", []) == []
    assert all((p.grad == grad).all() for p, grad in zip(model.parameters(), real, strict=True))  # the model is as it was
    return root, real, [p.grad for p in leaves.values()]


def same(real: list[Any], again: list[Any]) -> bool:
    return all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(real, again, strict=True))


@pytest.mark.parametrize("library", BOTH)
@pytest.mark.parametrize("of", ["both", "loss", "logits"])
def test_a_result_that_another_was_computed_from_counts_once(library: Any, of: str) -> None:
    class WithLoss(library.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = library.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            logits = self.layer(x)
            return {"logits": logits, "more": [(logits * logits).sum(), logits]}

    def loss_of(model: Any) -> Any:
        out = model(library.ones(1, 2))
        loss, logits = out["more"][0], out["logits"].sum() * 3
        return {"loss": loss, "logits": logits, "both": loss + logits}[of]

    root, real, again = gradients_again(library, WithLoss(), loss_of)
    assert root.shape == {"loss": (), "logits": (1, 2), "both": ()}[of]
    assert all(np.allclose(a.numpy(), b.numpy()) for a, b in zip(real, again, strict=True))


def siamese(library: Any, model: Any) -> Any:
    difference = model(library.randn(2, 4)) - model(library.randn(2, 4))
    return (difference * difference).mean()


def recurrent(library: Any, model: Any) -> Any:
    return model(model(library.randn(2, 4)).tanh()).sum()


def penalized(library: Any, model: Any) -> Any:
    x = library.randn(2, 4).requires_grad_()
    slope = library.autograd.grad(model(x).sum(), x)[0]
    return model(x * slope).sum()


@pytest.mark.parametrize("library", BOTH)
@pytest.mark.parametrize("loss_of", [siamese, recurrent, penalized])
def test_all_calls_of_a_pass_run_again_and_gradients_of_grad_do_not_count(library: Any, loss_of: Any) -> None:
    model = library.nn.Sequential(library.nn.Linear(4, 4), library.nn.Dropout(0.5), library.nn.Linear(4, 4))
    _, real, again = gradients_again(library, model, lambda m: loss_of(library, m))
    assert same(real, again)


@pytest.mark.parametrize("library", BOTH)
def test_hooks_of_a_result_have_run_before(library: Any) -> None:
    class Hooked(library.nn.Linear):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            result = super().forward(x)
            result.register_hook(lambda grad: grad * 3)
            return result

    _, real, again = gradients_again(library, Hooked(4, 4), lambda m: m(library.randn(2, 4)).sum())
    assert same(real, again)


def test_inputs_of_ours_are_copied_and_stay_as_they_are() -> None:
    model = av.nn.Sequential(av.nn.ReLU(inplace=True), av.nn.Linear(4, 4))
    optimizer, x = av.optim.SGD(model.parameters(), lr=0.1), av.randn(2, 4)
    with av.watch(model) as run:
        model(x).sum().backward()
        real = [p.grad.detach().clone() for p in model.parameters()]
        optimizer.step()
        x.fill_(-5.0)
        with run._loop.opened(None) as (root, gradient, leaves):
            root.backward(gradient)
    assert same(real, [p.grad for p in leaves.values()])
    assert (x == -5).all()


@pytest.mark.torch
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_finds_the_parameters_of_the_pass(reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    class Checkpointed(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Sequential(
                torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 4)
            )
            self.outer = torch.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return self.outer(checkpoint(self.inner, x.requires_grad_(), use_reentrant=reentrant))

    _, real, again = gradients_again(torch, Checkpointed(), lambda m: m(torch.randn(3, 4)).pow(2).mean())
    assert same(real, again)


@pytest.mark.torch
def test_ops_are_cast_as_they_were() -> None:
    def loss_of(model: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            result = model(torch.randn(3, 4))
        return result.float().pow(2).mean()

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    _, real, again = gradients_again(torch, model, loss_of)
    assert same(real, again)


@pytest.mark.torch
def test_modules_in_lists_and_bound_methods_belong_to_the_copy() -> None:
    class Plain(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
            self.listed, self.call, self.calls = [self.first], self.second.forward, 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return self.call(self.listed[0](x).tanh())

    model = Plain()
    _, real, again = gradients_again(torch, model, lambda m: m(torch.randn(3, 4)).sum())
    assert same(real, again)
    assert model.calls == 3


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["lstm", "batch norm", "float64", "complex"])
def test_recurrent_layers_statistics_and_dtypes(kind: str) -> None:
    nn = torch.nn
    models = {
        "lstm": lambda: nn.LSTM(4, 4, 2, dropout=0.5),
        "batch norm": lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True)),
        "float64": lambda: nn.Linear(4, 4).double(),
        "complex": lambda: nn.Linear(4, 4, dtype=torch.complex64),
    }

    def loss_of(model: Any) -> Any:
        dtype = {"float64": torch.float64, "complex": torch.complex64}.get(kind, torch.float32)
        result = model(torch.randn(5, 4, dtype=dtype))
        if kind == "complex":
            return (result - model(torch.randn(5, 4, dtype=dtype))).abs().sum()
        return result[0].pow(2).mean() + result[1][0].mean() if kind == "lstm" else result.pow(2).mean()

    _, real, again = gradients_again(torch, models[kind](), loss_of)
    assert same(real, again)


@pytest.mark.parametrize("library", BOTH)
def test_a_pass_that_is_stepped_first_and_taken_back_is_measured_once(library: Any) -> None:
    def norms(is_stepped: bool) -> Any:
        library.manual_seed(0)
        model = library.nn.Sequential(library.nn.Linear(3, 3), library.nn.Tanh())
        optimizer = library.optim.SGD(model.parameters(), lr=0.1)
        with av.watch(model) as run:
            loss = model(library.ones(2, 3)).sum()
            if is_stepped:
                stepper = av.step(loss).stepper
                stepper.finish()
                stepper.reset()
            loss.backward()
            optimizer.step()
            run.totals()
        return run.history.series["norm"].spans().mean

    assert np.allclose(norms(is_stepped=True), norms(is_stepped=False))


@pytest.mark.torch
def test_copies_are_as_the_parameters_were_in_order_value_dtype_and_layout() -> None:
    from autograd_viz.sources.pytorch.run.numbers import Copies

    conv = torch.randn(4, 3, 2, 2).to(memory_format=torch.channels_last)
    given = [torch.randn(2, 3), torch.tensor(1.5), torch.randn(5), conv, torch.randn(4, 3), torch.randn(0), torch.ones(3, 1, 3)]
    live = [torch.nn.Parameter(t) for t in [*given, given[0].bfloat16(), given[0].double(), given[0].t(), given[2].clone()]]
    copies = Copies(live)
    with torch.no_grad():
        for _ in range(2):
            torch._foreach_add_(live, 1.0)
            was = [p.detach().clone() for p in live]
            copies.take()
            torch._foreach_mul_(live, 3.0)
            for copied, before in zip(copies.tensors, was, strict=True):
                assert copied.dtype is before.dtype
                assert copied.stride() == before.stride()
                assert torch.equal(copied, before)


@pytest.mark.torch
def test_a_model_that_is_converted_after_the_watch_began_is_kept_as_it_is_now() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    def loss_of(model: Any) -> Any:
        return model.double()(torch.randn(3, 4).double()).pow(2).mean()

    _, real, again = gradients_again(torch, model, loss_of)
    assert all(grad.dtype is torch.float64 for grad in again)
    assert same(real, again)
