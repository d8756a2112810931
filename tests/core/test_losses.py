"""Losses, normalizations, dropout, embeddings and attention: what they refuse, and what the tables of rules cannot say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

F = av.nn.functional
SCORES = av.tensor([[1.0, 2.0, 0.5], [0.1, 0.2, 0.3]])
NLL = [[-0.4, -1.7, -2.0], [-1.2, -1.0, -1.1]]


def test_a_mean_over_classes_is_over_their_weights() -> None:
    x, weight = av.tensor(NLL, requires_grad=True), av.tensor([1.0, 2.0, 4.0])
    loss = F.nll_loss(x, av.tensor([1, 2]), weight)
    assert loss.item() == pytest.approx((1.7 * 2 + 1.1 * 4) / 6)
    loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), [[0, -1 / 3, 0], [0, 0, -2 / 3]], rtol=1e-6)


def test_an_ignored_target_neither_counts_nor_gets_a_gradient() -> None:
    x = av.tensor(NLL, requires_grad=True)
    loss = F.nll_loss(x, av.tensor([1, -100]))
    loss.backward()
    assert (loss.item(), x.grad.tolist()) == (pytest.approx(1.7), [[0.0, -1.0, 0.0], [0.0, 0.0, 0.0]])


def test_the_formula_of_the_likelihood_loss_names_the_target() -> None:
    from autograd_viz.twin.core.base.symbol import Symbol
    from autograd_viz.twin.core.op.formula import formulas

    node = F.nll_loss(av.tensor(NLL, requires_grad=True), av.tensor([1, 2])).grad_fn
    names = {n: Symbol(n) for n in ("self", "target", "total_weight")}
    assert formulas(node, (Symbol("grad"),), names) == {"self": "zeros_but(-grad / total_weight, at=target)"}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.nll_loss(SCORES, av.tensor([5, 1])), IndexError, "Target 5 is out of bounds."),
        (
            lambda: F.nll_loss(SCORES, av.tensor([1])),
            ValueError,
            "Expected input batch_size (2) to match target batch_size (1).",
        ),
        (
            lambda: F.nll_loss(SCORES, av.tensor([1.0, 1.0])),
            RuntimeError,
            "expected target dtype to be Long or Byte, but got Float",
        ),
        (lambda: F.mse_loss(SCORES, SCORES, reduction="avg"), ValueError, "avg is not a valid value for reduction"),
        (
            lambda: F.mse_loss(av.tensor([1]), av.tensor([1])),
            NotImplementedError,
            "\"mse_cpu\" not implemented for 'Long'",
        ),
        (
            lambda: F.huber_loss(SCORES, SCORES, delta=0.0),
            RuntimeError,
            "huber_loss does not support non-positive values for delta.",
        ),
        (
            lambda: F.binary_cross_entropy(SCORES, SCORES),
            RuntimeError,
            "all elements of input should be between 0 and 1",
        ),
        (
            lambda: F.batch_norm(av.ones(1, 3), None, None, training=True),
            ValueError,
            "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])",
        ),
        (
            lambda: F.layer_norm(SCORES, (2,)),
            RuntimeError,
            "Given normalized_shape=[2], expected input with shape [*, 2], but got input of size[2, 3]",
        ),
        (lambda: F.embedding(av.tensor([3]), av.ones(3, 2)), IndexError, "index out of range in self"),
        (lambda: F.dropout(SCORES, p=1.5), ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
        (lambda: F.one_hot(av.tensor([2]), 2), RuntimeError, "Class values must be smaller than num_classes."),
    ],
)
def test_bad_input_is_refused_in_pytorchs_words(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as refused:
        call()
    assert str(refused.value) == text


def test_a_target_of_another_size_is_broadcast_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="This will likely lead to incorrect results due to broadcasting"):
        loss = F.mse_loss(av.tensor([1.0, 2.0]), av.tensor([0.0]))
    assert loss.item() == 2.5


def test_batch_norm_moves_its_averages_in_training_only() -> None:
    x, mean, variance = av.tensor([[1.0, 2.0], [3.0, 6.0]]), av.zeros(2), av.ones(2)
    F.batch_norm(x, mean, variance, training=False)
    assert (mean.tolist(), variance.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    out = F.batch_norm(x, mean, variance, training=True, momentum=0.5)
    np.testing.assert_allclose(out.numpy(), [[-1, -1], [1, 1]], rtol=1e-4)
    np.testing.assert_allclose((mean.numpy(), variance.numpy()), [[1, 2], [1.5, 4.5]])  # the average variance is unbiased


def test_the_gradient_of_a_norm_is_orthogonal_to_shift_and_scale() -> None:
    x = av.tensor([[0.3, -1.2, 2.0, 0.7]], dtype=av.float64, requires_grad=True)
    (g,) = av.autograd.grad((F.layer_norm(x, (4,), eps=0.0) * av.tensor([1.0, -2.0, 0.5, 3.0])).sum(), x)
    assert g.sum().item() == pytest.approx(0, abs=1e-12)
    assert (g * x).sum().item() == pytest.approx(0, abs=1e-12)


def test_dropout_keeps_the_mean_and_drops_the_same_places_in_backward() -> None:
    av.manual_seed(0)
    x = av.ones(2000, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    np.testing.assert_allclose(np.unique(y.detach().numpy()), [0, 4 / 3], rtol=1e-6)
    assert y.mean().item() == pytest.approx(1, abs=0.1)
    np.testing.assert_array_equal(x.grad.numpy(), y.detach().numpy())
    assert F.dropout(x, 0.25, training=False) is x


def test_an_embedding_adds_up_the_gradients_of_a_row_but_not_of_padding() -> None:
    weight = av.ones(4, 2, requires_grad=True)
    F.embedding(av.tensor([1, 3, 1, 0]), weight, padding_idx=0).sum().backward()
    assert weight.grad.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]


def test_causal_attention_looks_back_only() -> None:
    q = av.tensor(np.arange(12.0).reshape(1, 1, 3, 4) / 10)
    out = F.scaled_dot_product_attention(q, q, q, is_causal=True)
    assert out[0, 0, 0].tolist() == q[0, 0, 0].tolist()
    assert out[0, 0, 1].tolist() != q[0, 0, 1].tolist()


def test_a_query_that_may_look_nowhere_gets_zeros() -> None:
    q = av.tensor(np.ones((1, 1, 2, 4)), requires_grad=True)
    out = F.scaled_dot_product_attention(q, q, q, attn_mask=av.tensor([[False, False], [True, True]]))
    assert out.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
    assert out.tolist() == [[[[0.0] * 4, [1.0] * 4]]]
    out.sum().backward()
    assert np.isfinite(q.grad.numpy()).all()


def ctc_by_hand(log_probs: Any) -> float:
    """The paths of three frames that read as the one symbol 1, blank 0: added up."""
    paths = [(1, 1, 1), (0, 1, 1), (1, 1, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    return -math.log(sum(math.exp(sum(log_probs[t][s] for t, s in enumerate(path))) for path in paths))


def test_ctc_adds_up_the_paths_and_its_gradient_holds_after_log_softmax() -> None:
    scores = np.array([[0.1, 0.5, -0.3], [0.7, 0.2, 0.0], [-0.2, 0.4, 0.9]])

    def loss_of(values: Any) -> float:
        return ctc_by_hand((values - np.log(np.exp(values).sum(1, keepdims=True))).tolist())

    x = av.tensor(scores, requires_grad=True)
    log_probs = x - x.exp().sum(1, keepdim=True).log()
    loss = F.ctc_loss(log_probs.unsqueeze(1), av.tensor([[1]]), (3,), (1,), reduction="sum")
    assert loss.item() == pytest.approx(loss_of(scores))
    loss.backward()
    steps = [np.eye(9)[i].reshape(3, 3) * 1e-6 for i in range(9)]
    wanted = [(loss_of(scores + s) - loss_of(scores - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(x.grad.numpy().reshape(-1), wanted, rtol=1e-6)


def test_cross_entropy_of_one_hot_probabilities_is_that_of_the_classes() -> None:
    x = av.tensor([[1.0, 2.0, 0.5], [0.1, 0.2, 0.3]], requires_grad=True)
    by_class = F.cross_entropy(x, av.tensor([1, 2]))
    by_probability = F.cross_entropy(x, F.one_hot(av.tensor([1, 2]), 3).to(av.float32))
    assert by_class.item() == pytest.approx(by_probability.item()) == pytest.approx(0.73316, abs=1e-4)
    assert by_class.grad_fn.name() == "NllLossBackward0"
    assert by_probability.grad_fn.name() == "DivBackward1"
