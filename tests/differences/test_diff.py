"""`av.diff(a, b)`: where two passes differ first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch
SAME = "Every value and every gradient is the same, to the bit."
X = torch.linspace(-1, 1, 20).reshape(5, 4)


def net(change: Callable[[Any], object] = lambda m: None) -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 1)).eval()
    change(model)
    return model


def loss_of(model: Any, x: Any = X) -> Any:
    with av.record(model):
        return (model(x) ** 2).mean()


class Attention(nn.Module):
    """Scaled after the product of queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k, self.out = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        return self.out(torch.softmax(self.q(x) @ self.k(x).T / 2, -1) @ x)


class Reordered(Attention):
    """Scaled before."""

    dim = -1

    def forward(self, x: Any) -> Any:
        k, q = self.k(x), self.q(x) / 2
        return self.out(torch.softmax(q @ k.T, self.dim) @ x)


class Wrong(Reordered):
    """With another softmax."""

    dim = 0


def test_the_same_program_twice_has_no_difference() -> None:
    found = av.diff(loss_of(net()), loss_of(net()))
    assert found.sentences == [SAME]
    assert len(found.report.gradients) == 11


def test_a_changed_weight_is_the_first_value_and_its_consumers_follow() -> None:
    a, b = net(), net(lambda m: nn.init.constant_(m[3].weight, 0.1))
    found = av.diff(loss_of(a), loss_of(b))
    assert found.first_value.name.endswith("3.weight")
    assert found.first_value.module == "3"
    assert found.first_gradient.name.startswith("Addmm")
    first = next(r for r in found.table() if r["module"] == "0")
    assert first["values"] == 0 and first["gradients"] > 0.1


def test_the_first_gradient_is_that_of_the_backward_pass() -> None:
    def halved(model: Any) -> Any:
        x = model[0](X)
        return (model[3](model[1](x.detach() * 0.5 + x * 0.5)) ** 2).mean()  # the same values, half of the gradient

    model = net()
    found = av.diff(lambda: (model[3](model[1](model[0](X))) ** 2).mean(), lambda: halved(model))
    assert found.sentences[0] == "No forward value differs beyond the tolerance."
    assert found.first_gradient.module == "0"
    assert found.first_gradient.gap.relative == pytest.approx(0.5)  # half as large


def test_reordered_ops_are_no_difference_and_a_real_one_is_found_behind_them() -> None:
    a, b, wrong = Attention(), Reordered(), Wrong()
    same = av.diff(lambda: a(X).sum(), lambda: b(X).sum())
    assert same.sentences[0] == SAME
    assert "Ops changed places" in same.sentences[1]
    found = av.diff(lambda: a(X).sum(), lambda: wrong(X).sum())
    assert found.first_value.name == "Mm(…, X)"  # takes the softmax, which stands at another place


def test_an_error_that_begins_at_the_loss_does_not_grow() -> None:
    model = net()
    found = av.diff(lambda: model(X).sum() * 2.0, lambda: model(X).sum() * 3.0)
    assert found.first_value.a in found.report.documents[0].roots
    assert not any("From there" in sentence for sentence in found.sentences)


def test_a_gradient_that_only_one_side_has_is_named() -> None:
    class Cut(Attention):
        def forward(self, x: Any) -> Any:
            return self.out(torch.softmax(self.q(x).detach() @ self.k(x).T / 2, -1) @ x)

    a, cut = Attention(), Cut()
    found = av.diff(lambda: a(X).sum(), lambda: cut(X).sum())
    assert found.first_value is None
    assert found.first_gradient.module == "q"
    assert "only a has it" in found.sentences[1]


def test_renamed_modules_are_guessed_and_told() -> None:
    def named(first: str, second: str) -> Any:
        torch.manual_seed(0)
        model = nn.Sequential()
        model.add_module(first, nn.Linear(4, 8))
        model.add_module(second, nn.Linear(8, 1))
        return model

    found = av.diff(loss_of(named("enc", "dec")), loss_of(named("encoder", "head")))
    assert found.sentences == [SAME, "Guessed from shapes and places: enc → encoder, dec → head."]
    assert len(found.report.gradients) == 10


def test_dropout_that_is_left_on_is_named() -> None:
    on = net().train()
    off = net()
    found = av.diff(lambda: (off(X) ** 2).mean(), lambda: (on(X) ** 2).mean())
    assert found.first_value.name.startswith("Addmm")
    assert "Only b has the op Mul (2)." in found.sentences


def test_bfloat16_has_its_own_tolerance() -> None:
    a, b = net(), net(lambda m: m.bfloat16())
    found = av.diff(loss_of(a), loss_of(b, X.bfloat16()))
    weights = [i.gap for i in found.report.values if i.name.endswith("weight")]
    assert weights and not any(g.is_beyond or g.is_same for g in weights)


def test_a_compiled_region_is_one_node_whose_ends_are_compared() -> None:
    """It takes over a second: PyTorch's compiler is imported."""
    model = net()
    compiled = torch.compile(model, backend="aot_eager")
    found = av.diff(loss_of(model), loss_of(compiled))
    assert SAME in found.sentences
    assert {i.name.partition(".")[2] for i in found.report.gradients} >= {"0.weight", "0.bias", "3.weight", "3.bias"}
    assert any("has the op CompiledFunction" in s for s in found.sentences)


def test_pytorch_and_the_core() -> None:
    model = net()
    ours = av.nn.Sequential(av.nn.Linear(4, 8), av.nn.Tanh(), av.nn.Dropout(0.5), av.nn.Linear(8, 1)).eval()
    ours.load_state_dict({name: av.tensor(p.numpy()) for name, p in model.state_dict().items()})
    found = av.diff(loss_of(model), (ours(av.tensor(X.numpy())) ** 2).mean())
    assert "No value and no gradient differs beyond the tolerance" in found.sentences[0]
    assert len(found.report.gradients) == 11


def test_two_moments_of_a_watched_run() -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    with av.watch(model) as run:
        run.keep(every=2)
        for _ in range(4):
            optimizer.zero_grad()
            (model(X) ** 2).mean().backward()
            optimizer.step()
        found = av.diff(run.step(0), run.step(2))
    assert {i.name for i in found.report.values if i.gap.is_beyond} >= {"0.weight", "0.bias", "3.weight", "3.bias"}
    assert not any(found.report.pairs.only)


def test_saved_documents_are_compared_with_each_other_and_with_a_live_pass(tmp_path: Path) -> None:
    a, b = net(), net(lambda m: nn.init.constant_(m[3].weight, 0.1))
    av.save(loss_of(a), tmp_path / "old.json")
    av.save(loss_of(b), tmp_path / "new.json")
    saved = av.diff(tmp_path / "old.json", tmp_path / "new.json")
    live = av.diff(av.load(tmp_path / "old.json"), loss_of(b))
    assert saved.titles == ("old", "new")
    assert saved.first_value.name.endswith("3.weight") and live.first_value.name.endswith("3.weight")
    assert saved.first_value.gap.relative == pytest.approx(live.first_value.gap.relative, rel=1e-6)


def test_functions_start_from_the_same_random_numbers_which_are_as_before() -> None:
    model = net().train()
    before = torch.get_rng_state()
    found = av.diff(lambda: (model(X) ** 2).mean(), lambda: (model(X) ** 2).mean())
    assert found.sentences == [SAME]
    assert torch.equal(torch.get_rng_state(), before)


def test_a_function_that_changes_what_the_other_used_is_refused() -> None:
    model = net()

    def after() -> Any:
        with torch.no_grad():
            model[0].bias.add_(1.0)
        return (model(X) ** 2).mean()

    with pytest.raises(RuntimeError, match=r"g has changed model\.0\.bias in place, which f had used.*copy\.deepcopy"):
        av.diff(lambda: (model(X) ** 2).mean(), after)


def test_it_changes_nothing() -> None:
    model = net()
    a, b = loss_of(model), loss_of(model)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    av.diff(a, b)
    assert torch.equal(model[0].weight.grad, torch.ones_like(model[0].weight)) and model[3].weight.grad is None
    a.backward()
    b.backward()


def test_a_freed_graph_has_its_values_compared() -> None:
    a = loss_of(net())
    a.backward()
    found = av.diff(a, loss_of(net()))
    assert found.sentences[-1].startswith("No gradients were compared: the graph of a")
    assert found.report.values and not found.report.gradients


def test_anything_else_is_refused() -> None:
    with pytest.raises(av.NotDrawableError, match=r"diff\(a, b\) compares two losses"):
        av.diff(3, loss_of(net()))


@pytest.fixture(scope="module")
def found() -> Any:
    a, b = net(), net(lambda m: nn.init.constant_(m[3].weight, 0.1))
    return av.diff(loss_of(a), loss_of(b))


@pytest.mark.parametrize("suffix", ["svg", "png", "html", "json"])
def test_it_is_saved(found: Any, suffix: str, tmp_path: Path) -> None:
    av.save(found, tmp_path / f"diff.{suffix}")
    assert (tmp_path / f"diff.{suffix}").stat().st_size > 1000


def test_the_json_has_the_answer_and_every_tensor(found: Any, tmp_path: Path) -> None:
    av.save(found, tmp_path / "diff.json")
    saved = json.loads((tmp_path / "diff.json").read_text())
    assert saved["sentences"] == found.sentences
    assert len(saved["tensors"]) == len(found.report.items)


def test_the_picture_lights_the_first_difference_and_pairs_the_cards(found: Any) -> None:
    assert found.svg.count("lit s-grad") == 2  # one card on each side
    pairs = found.page()["partners"]
    assert pairs and len(set(pairs.values())) == len(pairs)
    assert list(found.page("dark")["pictures"]) == ["dark"]


def test_it_speaks_chinese(found: Any) -> None:
    av.set_language("zh")
    try:
        assert found.sentences[0].startswith("最先不同的前向值是")
        assert "超出容差" in found.svg
    finally:
        av.set_language("en")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda loss: loss * 2, "The first value that differs is the result: relative error 0.5"),
        (lambda loss: loss + 1, "The first value that differs is the result: "),
        (lambda loss: loss * 1, "Only b has the op Mul."),  # another op, and the same numbers
    ],
)
def test_results_of_different_ops_are_compared(change: Callable[[Any], Any], said: str) -> None:
    model = net()
    found = av.diff(lambda: model(X).pow(2).mean(), lambda: change(model(X).pow(2).mean()))
    assert found.sentences[0].startswith(said) or (found.first_value is None and found.sentences[-1] == said), found
    assert "No forward value" not in str(found) and found.svg
