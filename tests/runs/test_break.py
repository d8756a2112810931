"""A run stops before nan moves a weight, and its passes run again bit for bit."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from .loops import made, train  # noqa: E402

pytestmark = pytest.mark.torch


class Logs(nn.Module):
    """Its log is nan where its weights make the input negative."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 8)

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return torch.log(self.inner(x)).sum(1, keepdim=True)


def test_it_stops_before_a_weight_moves_and_names_op_and_line() -> None:
    model, optimizer = made(Logs)
    weight = model.inner.weight.detach().clone()
    run = av.watch(model)
    with pytest.raises(av.NotFiniteError) as raised:
        train(model, optimizer, 1)
    assert torch.equal(model.inner.weight, weight)
    assert "the gradient of inner.weight is nan (likewise 1 more)" in str(raised.value)
    assert "log returned nan" in str(raised.value)
    assert "test_break.py, line 28" in str(raised.value)
    assert run.step().stepper.document.roots  # the pass lies open
    run.close()
    assert "stopped" in repr(run)


def test_what_was_born_after_the_model_is_told_so() -> None:
    model, optimizer = made(lambda: nn.Linear(4, 1))
    with av.watch(model), pytest.raises(av.NotFiniteError, match="It was born after the model"):
        (model(torch.ones(2, 4)) * float("inf")).sum().backward()
        optimizer.step()


NAN = float("nan")


class Uses(nn.Module):
    """A layer whose result is multiplied by what is given, by a buffer, or by what is computed without a graph."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.inner, self.what = nn.Linear(2, 3), what
        self.register_buffer("factor", torch.tensor([1.0, NAN, 1.0]))

    def forward(self, x: Any, given: Any = 1.0) -> Any:
        with torch.no_grad():
            made = (0 * x - 1).log().sum()
        return self.inner(x) * {"given": given, "buffer": self.factor, "made": made}[self.what]


def root_of_distance(model: Any, x: Any) -> None:
    (model(x) - model(x)).pow(2).sum(1).sqrt().mean().backward()


def nan_in_the_target(model: Any, x: Any) -> None:
    nn.functional.mse_loss(model(x) + model(x), torch.full((4, 3), NAN)).backward()


def later_pass_is_finite(model: Any, x: Any) -> None:
    root_of_distance(model, x)
    model(x).sum().backward()


def edited(model: Any, x: Any) -> None:
    model(x).sum().backward()
    model.weight.grad.mul_(NAN)


INPUT, CONSTANT = "An input of the model holds nan from the start: check the data.", "The model uses a tensor without history"
SQRT = "It was born after the model. An input of sqrt is 0, where its derivative is infinite (test_break.py, line "
AFTER = "It was born after the model: the model's result is finite, and the gradient that reached it is nan."
WATCH, NOT_AGAIN = "Call av.watch() before the loop", "The last pass ran again without it."
# model, pass, what is said, what is said if the program is watched
BIRTHS: dict[str, tuple[Any, Any, str, str]] = {
    "two calls": (lambda: nn.Linear(2, 3), root_of_distance, f"{AFTER} {WATCH}", SQRT),
    "two calls, target": (lambda: nn.Linear(2, 3), nan_in_the_target, f"{AFTER} {WATCH}", "It was born after the model. "),
    "one of two inputs": (lambda: Uses("given"), lambda m, x: (m(x) + m(x, x[:, :1] * NAN)).sum().backward(), INPUT, INPUT),
    "a buffer": (lambda: Uses("buffer"), lambda m, x: m(x).sum().backward(), CONSTANT, CONSTANT),
    "without a graph": (lambda: Uses("made"), lambda m, x: m(x).sum().backward(), "made holds nan", "made holds nan"),
    "an earlier pass": (lambda: nn.Linear(2, 3), later_pass_is_finite, NOT_AGAIN, NOT_AGAIN),
    "a line": (
        lambda: nn.Linear(2, 3),
        edited,
        "after it was last changed in place (test_break.py, ",
        "arrived in the last pass, then grad was changed (test_break.py, ",
    ),
}


@pytest.mark.parametrize("is_watched", [False, True])
@pytest.mark.parametrize("case", BIRTHS)
def test_only_what_was_looked_at_is_told(case: str, is_watched: bool) -> None:
    kind, run_pass, alone, watched = BIRTHS[case]
    model, optimizer = made(kind)
    with av.watch() if is_watched else nullcontext(), av.watch(model), pytest.raises(av.NotFiniteError) as raised:
        run_pass(model, torch.ones(4, 2))
        optimizer.step()
    said = str(raised.value).split("in this step. ")[1]
    assert (watched if is_watched else alone) in said, said
    assert (WATCH in said) == (WATCH in alone and not is_watched)


def test_the_core_remembers_what_ran_after_the_model() -> None:
    model = av.nn.Linear(2, 3)
    optimizer, x = av.optim.SGD(model.parameters(), 0.1), av.ones(4, 2)
    with av.watch(model), pytest.raises(av.NotFiniteError, match=r"after the model\. An input of sqrt is 0"):
        loss = (model(x) - model(x)).pow(2).sum(1).sqrt().mean()
        loss.backward()
        optimizer.step()


def test_the_cause_is_told_in_chinese_too() -> None:
    model, optimizer = made(Logs)
    av.set_language("zh")
    try:
        with av.watch(model), pytest.raises(av.NotFiniteError, match=r"这一步没有更新权重。log 的输入是 .*结果是 nan"):
            train(model, optimizer, 5)
    finally:
        av.set_language("en")


def test_nan_in_the_data_is_told_so() -> None:
    model, optimizer = made(lambda: nn.Linear(4, 1))
    told = r"no weight has moved in this step. An input of the model holds nan from the start: check the data."
    with av.watch(model), pytest.raises(av.NotFiniteError, match=told):
        model(torch.tensor([[1.0, float("nan"), 2.0, 3.0]])).sum().backward()
        optimizer.step()


def test_what_the_backward_pass_made_is_told_so() -> None:
    class Root(nn.Linear):
        def forward(self, x: Any) -> Any:
            return torch.sqrt(super().forward(x) * 0)

    model, optimizer = made(lambda: Root(4, 1))
    with av.watch(model), pytest.raises(av.NotFiniteError, match="born in the backward pass"):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


def test_large_finite_gradients_are_no_break() -> None:
    model = nn.Linear(2, 1, bias=False)
    with av.watch(model) as run:
        (model(torch.ones(2)) * 1e30).sum().backward()
        torch.optim.SGD(model.parameters(), 1e-30).step()
    assert not run.stopped


def test_without_stop_the_loop_goes_on() -> None:
    model, optimizer = made(Logs)
    with av.watch(model, stop=False) as run:
        train(model, optimizer, 2)
    assert "inner.weight: the gradient was nan or inf, first in step 0 (2 in all)." in run.odd()


def test_a_step_that_a_scaler_leaves_out_is_no_break() -> None:
    model, optimizer = made(lambda: nn.Linear(4, 1))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    with av.watch(model) as run:
        for factor in (1.0, float("inf"), 1.0):
            optimizer.zero_grad()
            loss = model(torch.ones(2, 4)).sum() * factor
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        first = model(torch.ones(2, 4)).sum()
    assert [m.step for m in run.history.marks if m.kind == "skipped"] == [1]
    assert not run.stopped
    assert abs(run.totals()["loss"][2] - first.item()) < 1  # without the scale of the scaler


def gradients(stepper: Any) -> dict[str, str]:
    """The grads that a stepper shows at its end."""
    stepper.finish()
    document, state = stepper.stepper.document, stepper.stepper.state
    return {t.name: str(state.values[f"{t.id}.grad"]) for t in document.tensors if f"{t.id}.grad" in state.values and t.name}


def test_a_kept_step_runs_again_bit_for_bit() -> None:
    model, optimizer = made()
    real: dict[int, Any] = {}

    def note(k: int) -> None:
        real[k] = {name: p.grad.clone() for name, p in model.named_parameters()}

    with av.watch(model) as run:
        run.keep(every=2)
        train(model, optimizer, 5, note)
        state, random = {k: v.clone() for k, v in model.state_dict().items()}, torch.get_rng_state()
        for k in (0, 2, 4):
            with run._loop.opened(k) as (root, gradient, leaves):
                root.backward(gradient)
                assert all(torch.equal(leaves[name].grad, grad) for name, grad in real[k].items())
        assert all(torch.equal(state[k], v) for k, v in model.state_dict().items())
        assert torch.equal(random, torch.get_rng_state())
        assert model.head.weight.grad is not None
    assert len(gradients(run.step(2))) == len(real[2])


def test_the_last_pass_can_be_opened_after_its_step() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        grads: list[Any] = []
        train(model, optimizer, 3, lambda k: grads.append(model.head.weight.grad.clone()))
        with run._loop.opened(None) as (root, gradient, leaves):
            root.backward(gradient)
            assert torch.equal(leaves["head.weight"].grad, grads[-1])
        assert "head" in run.map().svg


def test_an_opened_pass_has_the_lines_where_it_ran() -> None:
    model, optimizer = made(lambda: nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1)))
    with av.watch(model) as run:
        run.keep(every=2)
        for _ in range(4):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
        for stepper in (run.step(), run.step(2)):
            assert {op.source.expression for op in stepper.stepper.document.ops} == {"model(torch.ones(2, 4))"}


def test_a_condition_chooses_steps() -> None:
    model, optimizer = made()
    with av.watch(model) as run:
        run.keep(when=lambda now: now.step == 3 or now.loss > 1e9)
        train(model, optimizer, 5)
    assert run._watch.moments.steps == [3]
    with pytest.raises(KeyError, match=r"step 1 was not kept \(kept: 3\)"):
        run.step(1)


def test_what_cannot_run_again_says_why() -> None:
    model, optimizer = made()
    with av.watch(model, keep=0) as run:
        train(model, optimizer, 1)
        with pytest.raises(RuntimeError, match=r"copies of its tensors take .* bytes, and keep is 0"):
            run.step()
    with av.watch(model) as run:
        x = torch.randn(16, 4)
        model(x).sum().backward()
        x.zero_()
        with pytest.raises(RuntimeError, match="its inputs were changed in place"):
            run.step()
    model.head.weight.requires_grad_(False)
    with av.watch(model) as run:
        model.head.weight.requires_grad_()
        train(model, optimizer, 1)
        grad = model.head.weight.grad.clone()
        with pytest.raises(RuntimeError, match=r"head\.weight did not require grad when av\.watch\(model\) was called"):
            run.step()
    assert torch.equal(model.head.weight.grad, grad)


def test_keep_takes_one_way_to_choose() -> None:
    model, _ = made()
    with av.watch(model) as run:
        with pytest.raises(ValueError, match="takes one of every=500 and when="):
            run.keep()
        with pytest.raises(ValueError, match="at least 1, or None, got 0"):
            run.keep(every=0)


def test_a_step_that_cannot_be_kept_is_a_warning_and_the_loop_goes_on() -> None:
    model, optimizer = made()
    with (
        av.watch(model, keep=0) as run,
        pytest.warns(UserWarning, match="keep.. has ended at step 0: RuntimeError: .* keep is 0"),
    ):
        run.keep(every=1)
        losses = train(model, optimizer, 3)
    assert len(losses) == 3


def test_a_parameter_without_grad_is_not_taken_for_an_earlier_nan() -> None:
    model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    with av.watch(model, stop=False) as run:
        (model["b"](torch.ones(2)) * float("nan")).sum().backward()
        optimizer.step()
        run.totals()  # a new block begins where the nan stands
        optimizer.zero_grad()
        run._loop._is_to_stop = True
        model["a"](torch.ones(2)).sum().backward()
        optimizer.step()
    assert not run.stopped
