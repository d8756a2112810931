"""Packed sequences beside PyTorch's: packed, run through recurrent layers, padded again, and differentiated."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

KINDS = ["RNN", "LSTM", "GRU", "LSTM with proj_size"]


def facts(m: Any, kind: str, bidirectional: bool, batch_first: bool, is_sorted: bool, has_state: bool) -> list[Any]:
    m.manual_seed(0)
    rnn, (kind, _, proj) = m.nn.utils.rnn, kind.partition(" with ")
    layer = getattr(m.nn, kind)(
        3, 4, num_layers=2, bidirectional=bidirectional, batch_first=batch_first, **({proj: 2} if proj else {})
    )
    x = (m.randn(4, 5, 3) if batch_first else m.randn(5, 4, 3)).requires_grad_()
    lengths = m.tensor([5, 4, 4, 1]) if is_sorted else [2, 5, 1, 4]
    packed = rnn.pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=is_sorted)
    begin = None
    if has_state:
        begin = m.randn(4 if bidirectional else 2, 4, 2 if proj else 4)
        begin = (begin, m.randn(4 if bidirectional else 2, 4, 4)) if kind == "LSTM" else begin
    out, state = layer(packed, begin)
    padded, counts = rnn.pad_packed_sequence(out, batch_first=batch_first, padding_value=-1.0, total_length=7)
    states = state if isinstance(state, tuple) else (state,)
    loss = (padded * m.arange(float(padded.numel())).reshape(padded.shape)).sum() + sum((s * s).sum() for s in states)
    loss.backward()
    return [*packed, *out, padded, counts, *states, x.grad, *(p.grad for p in layer.parameters()), *rnn.unpack_sequence(packed)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_sorted", [True, False])
def test_packed_sequences_run_as_in_pytorch(kind: str, is_sorted: bool) -> None:
    for bidirectional, batch_first, has_state in itertools.product([False, True], repeat=3):
        mine, theirs = (facts(m, kind, bidirectional, batch_first, is_sorted, has_state) for m in (av, torch))
        for a, b in zip(mine, theirs, strict=True):
            if a is None or b is None:
                assert a is b
                continue
            assert (a.shape, str(a.dtype)) == (b.shape, str(b.dtype))
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-4)


def test_a_list_of_sequences_is_packed_and_unpacked() -> None:
    found = []
    for m in (av, torch):
        packed = m.nn.utils.rnn.pack_sequence([m.tensor([1, 2]), m.tensor([3, 4, 5]), m.tensor([6])], enforce_sorted=False)
        back = m.nn.utils.rnn.unpack_sequence(packed)
        found.append(([None if p is None else p.tolist() for p in packed], [b.tolist() for b in back]))
    assert found[0] == found[1]


@pytest.mark.parametrize("lengths", [[3, 2, 4], [5, 0], [2, 5]])
def test_lengths_that_do_not_fit_are_refused_in_pytorchs_words(lengths: list[int]) -> None:
    said = []
    for m in (av, torch):
        with pytest.raises(RuntimeError) as error:
            m.nn.utils.rnn.pack_padded_sequence(m.zeros(5, 2, 3), lengths)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_packed_data_can_be_changed_and_packed_again() -> None:
    found = []
    for m in (av, torch):
        rnn = m.nn.utils.rnn
        packed = rnn.pack_sequence([m.tensor([1.0, 2.0]), m.tensor([3.0, 4.0, 5.0])], enforce_sorted=False)
        again = rnn.PackedSequence(packed.data * 2, packed.batch_sizes, packed.sorted_indices)
        found.append(
            (repr(again), [b.tolist() for b in rnn.unpack_sequence(again)], again.to(m.float64).data.dtype is m.float64)
        )
    assert found[0] == found[1]


def test_a_length_beyond_the_input_is_refused() -> None:
    """PyTorch makes a packed sequence of it that fits no shape."""
    with pytest.raises(RuntimeError, match="sequence length to be at most 5, the length of the input, but got 9"):
        av.nn.utils.rnn.pack_padded_sequence(av.zeros(5, 2, 3), [9, 2])
