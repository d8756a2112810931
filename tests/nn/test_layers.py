"""Every layer beside PyTorch's: printed, initialized, run forwards and backwards."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

ACTIVATIONS = [
    "ReLU()", "ReLU6()", "LeakyReLU(0.2)", "ELU(0.5)", "CELU(0.7)", "SELU()", "GELU()", "GELU('tanh')", "SiLU()", "Mish()",
    "Sigmoid()", "LogSigmoid()", "Tanh()", "Tanhshrink()", "Softsign()", "Softplus(2.0, 1.0)", "Hardtanh(-0.5, 0.7)",
    "Hardsigmoid()", "Hardswish()", "Hardshrink(0.3)", "Softshrink(0.3)", "Threshold(0.1, 2.0)", "GLU(1)", "Softmax(1)",
    "Softmin(1)", "LogSoftmax(-1)", "PReLU(4)", "Dropout(0.3)", "AlphaDropout(0.3)",
]  # fmt: skip
# (constructor, shapes of the inputs)
LAYERS: list[tuple[str, list[tuple[int, ...]]]] = [
    *((a, [(3, 4)]) for a in ACTIVATIONS),
    ("Softmax2d()", [(2, 3, 2, 2)]), ("Identity(3)", [(2, 3)]), ("Flatten()", [(2, 3, 2)]), ("Unflatten(1, (2, 3))", [(2, 6)]),
    ("Linear(4, 3)", [(2, 4)]), ("Linear(4, 3, bias=False)", [(2, 5, 4)]), ("Bilinear(3, 4, 2)", [(5, 3), (5, 4)]),
    ("Conv1d(4, 6, 3, stride=2, padding=1, groups=2)", [(2, 4, 9)]), ("Conv2d(3, 4, 3, padding='same')", [(2, 3, 6, 5)]),
    ("Conv2d(3, 4, (3, 2), padding=1, padding_mode='circular', bias=False)", [(2, 3, 6, 5)]),
    ("Conv3d(2, 3, 2, dilation=2)", [(1, 2, 4, 4, 4)]), ("ConvTranspose1d(4, 2, 3, stride=2)", [(2, 4, 5)]),
    ("ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)", [(2, 3, 4, 3)]),
    ("ConvTranspose3d(2, 2, 2, stride=2)", [(1, 2, 2, 2, 2)]),
    ("MaxPool1d(2)", [(2, 3, 7)]), ("MaxPool2d(3, stride=2, padding=1)", [(2, 3, 7, 6)]), ("MaxPool3d(2)", [(1, 2, 4, 4, 4)]),
    ("AvgPool1d(2)", [(2, 3, 7)]), ("AvgPool2d(3, 2, 1, count_include_pad=False)", [(2, 3, 7, 6)]),
    ("AvgPool3d(2)", [(1, 2, 4, 4, 4)]),
    ("AdaptiveAvgPool1d(3)", [(2, 3, 7)]), ("AdaptiveAvgPool2d((2, 3))", [(2, 3, 5, 7)]),
    ("AdaptiveAvgPool2d(1)", [(2, 3, 5, 7)]),
    ("AdaptiveMaxPool1d(3)", [(2, 3, 7)]), ("AdaptiveMaxPool2d(2)", [(2, 3, 5, 7)]),
    ("ConstantPad1d(2, 1.5)", [(2, 3, 4)]), ("ConstantPad2d((1, 0, 2, 1), 3)", [(2, 3, 4)]), ("ZeroPad2d(1)", [(2, 3, 4, 4)]),
    ("ReflectionPad1d(2)", [(2, 3, 4)]), ("ReflectionPad2d(1)", [(2, 3, 4, 4)]),
    ("ReplicationPad2d((1, 2, 0, 1))", [(2, 3, 4, 4)]),
    ("CircularPad1d(1)", [(2, 3, 4)]), ("CircularPad2d(1)", [(1, 3, 4, 4)]),
    ("Upsample(scale_factor=2)", [(1, 2, 3, 3)]), ("Upsample(size=(5, 4), mode='bilinear')", [(1, 2, 3, 3)]),
    ("UpsamplingBilinear2d(scale_factor=2)", [(1, 2, 3, 3)]), ("PixelShuffle(2)", [(1, 8, 2, 2)]),
    ("PixelUnshuffle(2)", [(1, 2, 4, 4)]), ("Unfold(2)", [(1, 2, 3, 3)]),
    ("Fold((3, 3), 2)", [(1, 8, 4)]),
    ("BatchNorm1d(4)", [(6, 4)]), ("BatchNorm1d(4, affine=False)", [(6, 4, 3)]),
    ("BatchNorm2d(3, momentum=None)", [(2, 3, 4, 4)]),
    ("BatchNorm3d(2, track_running_stats=False)", [(2, 2, 2, 3, 2)]), ("LayerNorm(4)", [(3, 4)]),
    ("LayerNorm((3, 4), eps=1e-3, bias=False)", [(2, 3, 4)]), ("GroupNorm(2, 4)", [(2, 4, 3)]), ("RMSNorm(4)", [(3, 4)]),
    ("InstanceNorm1d(3)", [(2, 3, 5)]), ("InstanceNorm2d(3, affine=True)", [(2, 3, 4, 4)]),
    ("InstanceNorm2d(3, track_running_stats=True)", [(2, 3, 4, 4)]), ("LocalResponseNorm(2)", [(2, 4, 3, 3)]),
    ("LocalResponseNorm(3)", [(2, 4, 3)]),
    ("CosineSimilarity()", [(3, 4), (3, 4)]), ("PairwiseDistance()", [(3, 4), (3, 4)]),
    ("L1Loss()", [(3, 4), (3, 4)]), ("MSELoss(reduction='sum')", [(3, 4), (3, 4)]),
    ("SmoothL1Loss(beta=0.5)", [(3, 4), (3, 4)]),
    ("HuberLoss(delta=0.5)", [(3, 4), (3, 4)]), ("KLDivLoss(reduction='batchmean')", [(3, 4), (3, 4)]),
    ("TripletMarginLoss()", [(3, 4), (3, 4), (3, 4)]), ("PoissonNLLLoss()", [(3, 4), (3, 4)]),
    ("RNN(3, 4, 2)", [(5, 2, 3)]), ("RNN(3, 4, nonlinearity='relu', bias=False)", [(5, 3)]),
    ("LSTM(3, 4, batch_first=True)", [(2, 5, 3)]), ("LSTM(3, 4, 2, bidirectional=True)", [(5, 2, 3)]),
    ("LSTM(3, 4, proj_size=2)", [(5, 2, 3)]), ("GRU(3, 4, 2, dropout=0.3)", [(5, 2, 3)]), ("GRU(3, 4)", [(5, 2, 3), (1, 2, 4)]),
    ("RNNCell(3, 4)", [(2, 3), (2, 4)]), ("LSTMCell(3, 4)", [(2, 3)]), ("GRUCell(3, 4, bias=False)", [(3,)]),
    ("MultiheadAttention(4, 2)", [(3, 2, 4)] * 3), ("MultiheadAttention(4, 2, batch_first=True, kdim=3, vdim=5)",
                                                     [(2, 3, 4), (2, 6, 3), (2, 6, 5)]),
    ("MultiheadAttention(4, 1, add_bias_kv=True, add_zero_attn=True)", [(3, 4)] * 3),
    ("TransformerEncoderLayer(4, 2, 8, 0.0)", [(3, 2, 4)]),
    ("TransformerEncoderLayer(4, 2, 8, 0.1, 'gelu', norm_first=True)", [(3, 2, 4)]),
    ("TransformerDecoderLayer(4, 2, 8, 0.0, batch_first=True)", [(2, 3, 4), (2, 5, 4)]),
    ("Transformer(4, 2, 2, 1, 8, 0.0)", [(3, 2, 4), (5, 2, 4)]),
]  # fmt: skip


def plain(t: Any) -> Any:
    """The values, for themselves."""
    return None if t is None else t.detach().numpy().copy()


def run(m: Any, source: str, shapes: list[tuple[int, ...]], training: bool) -> list[Any]:
    """The seeded layer printed and listed, its outputs, and the gradients of everything."""
    m.manual_seed(3)
    layer = eval(f"nn.{source}", {"nn": m.nn})
    text, state = repr(layer), {k: plain(v) for k, v in layer.state_dict().items()}
    layer.double().train(training)
    inputs = [m.tensor(np.random.default_rng(i).standard_normal(s), requires_grad=True) for i, s in enumerate(shapes)]
    m.manual_seed(5)
    result = layer(*inputs)
    outputs = flat(result)
    sum((o * o.detach().cos()).sum() for o in outputs).backward()
    grads = [t.grad for t in (*inputs, *layer.parameters())]
    after = {k: plain(v) for k, v in layer.state_dict().items()}
    return [text, state, [plain(o) for o in outputs], [plain(g) for g in grads], after]


def flat(result: Any) -> list[Any]:
    if isinstance(result, tuple):
        return [o for r in result if r is not None for o in flat(r)]
    return [result]


def differences(mine: Any, theirs: Any, where: str = "result") -> list[str]:
    """Where two nests of dicts, lists, arrays, texts and None differ."""
    if isinstance(theirs, dict):
        return [f"{where}: {list(mine)}, PyTorch: {list(theirs)}"] * (list(mine) != list(theirs)) + differences(
            list(mine.values()), list(theirs.values()), where
        )
    if isinstance(theirs, list):
        if len(mine) != len(theirs):
            return [f"{where}: {len(mine)} entries, PyTorch: {len(theirs)}"]
        return [d for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) for d in differences(a, b, f"{where}[{i}]")]
    if isinstance(theirs, np.ndarray):
        alike = mine is not None and mine.shape == theirs.shape and mine.dtype == theirs.dtype
        alike = alike and np.allclose(mine, theirs, 1e-6, 1e-7 if theirs.dtype == np.float32 else 1e-10, equal_nan=True)
    else:
        alike = mine == theirs if isinstance(theirs, str) else (mine is None) == (theirs is None)
    return [] if alike else [f"{where}: {mine}, PyTorch: {theirs}"]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize(("source", "shapes"), LAYERS, ids=[s for s, _ in LAYERS])
def test_a_layer_prints_starts_and_computes_as_pytorchs(source: str, shapes: list[tuple[int, ...]]) -> None:
    assert differences(run(av, source, shapes, True), run(torch, source, shapes, True)) == []


@pytest.mark.parametrize("source", ["BatchNorm2d(3)", "InstanceNorm2d(3, track_running_stats=True)", "Dropout(0.5)", "RReLU()"])
def test_evaluation_mode_is_pytorchs(source: str) -> None:
    assert differences(run(av, source, [(2, 3, 4, 4)], False), run(torch, source, [(2, 3, 4, 4)], False)) == []


CLASSES = [
    "CrossEntropyLoss()", "CrossEntropyLoss(weight=m.tensor([1.0, 2.0, 0.5, 1.0], dtype=m.float64))",
    "CrossEntropyLoss(label_smoothing=0.1, ignore_index=1)", "NLLLoss()", "MultiMarginLoss()",
]  # fmt: skip


@pytest.mark.parametrize("source", CLASSES)
def test_losses_by_class_are_pytorchs(source: str) -> None:
    results = []
    for m in (av, torch):
        loss = eval(f"m.nn.{source}", {"m": m})
        x = m.tensor(np.random.default_rng(0).standard_normal((3, 4)), requires_grad=True)
        value = loss(x, m.tensor([0, 3, 1]))
        value.backward()
        results.append([repr(loss), plain(value), plain(x.grad)])
    assert differences(*results) == []


@pytest.mark.parametrize("source", ["BCELoss()", "BCEWithLogitsLoss(pos_weight=m.tensor([2.0], dtype=m.float64))",
                                    "SoftMarginLoss()", "HingeEmbeddingLoss()", "MultiLabelSoftMarginLoss()"])  # fmt: skip
def test_losses_by_label_are_pytorchs(source: str) -> None:
    results = []
    for m in (av, torch):
        loss = eval(f"m.nn.{source}", {"m": m})
        x = m.tensor(np.random.default_rng(0).random((3, 4)), requires_grad=True)
        value = loss(x, m.tensor(np.eye(3, 4)))
        value.backward()
        results.append([repr(loss), plain(value), plain(x.grad)])
    assert differences(*results) == []


@pytest.mark.parametrize("source", ["Embedding(5, 3)", "Embedding(5, 3, padding_idx=-1)",
                                    "EmbeddingBag(5, 3, mode='sum')", "Embedding(5, 3, _weight=m.ones(5, 3))"])  # fmt: skip
def test_tables_are_pytorchs(source: str) -> None:
    results = []
    for m in (av, torch):
        m.manual_seed(0)
        table = eval(f"m.nn.{source}", {"m": m})
        out = table(m.tensor([[0, 4, 4], [2, 1, 0]]))
        (out * out).sum().backward()
        results.append([repr(table), plain(out), plain(table.weight.grad)])
    assert differences(*results) == []


@pytest.mark.parametrize("layer", [av.nn.Tanh, av.nn.MSELoss, av.nn.BCELoss])
def test_a_layer_refuses_an_option_that_it_does_not_have(layer: Any) -> None:
    with pytest.raises(TypeError, match=rf"{layer.__name__}.__init__\(\) got an unexpected keyword argument 'foo'"):
        layer(foo=1)


def test_masks_hide_what_they_should() -> None:
    results = []
    for m in (av, torch):
        m.manual_seed(0)
        layer = m.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True).double()
        x = m.tensor(np.random.default_rng(0).standard_normal((2, 3, 4)))
        causal = m.nn.Transformer.generate_square_subsequent_mask(3).double()
        hidden = m.zeros(2, 3, dtype=m.float64)
        hidden[1, 2] = -float("inf")
        weights = layer.self_attn(x, x, x, attn_mask=causal, key_padding_mask=hidden, average_attn_weights=False)[1]
        out = layer(x, causal, hidden)
        results.append([plain(out), plain(weights)])
    assert differences(*results) == []


def nodes(result: Any) -> dict[str, int]:
    """How many backward nodes of each name lead to a result."""
    found, stack = {}, [result.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found[node] = node.name()
            stack += [after for after, _ in node.next_functions]
    return dict(Counter(found.values()))


@pytest.mark.parametrize("batch_first", [False, True])
def test_attention_to_oneself_is_recorded_as_pytorch_records_it(batch_first: bool) -> None:
    layers = [m.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=batch_first)(m.ones(3, 2, 4)) for m in (av, torch)]
    assert nodes(layers[0]) == nodes(layers[1])
