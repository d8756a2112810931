"""`x[...]`: what it takes, which nodes it makes, and how it refuses; every expected value is PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

x = av.tensor(np.arange(24.0).reshape(2, 3, 4), requires_grad=True)
ONES = av.tensor([0, 1])


def names(result: av.Tensor) -> list[str]:
    """The nodes from the result to the leaf."""
    found, node = [], result.grad_fn
    while node is not None and node.next_functions:
        found.append(node.name().removesuffix("Backward0"))
        node = node.next_functions[0][0]
    return found


@pytest.mark.parametrize(
    ("index", "shape", "nodes"),
    [
        (np.s_[-1], (3, 4), ["Select"]),
        (np.s_[:], (2, 3, 4), ["Slice"]),
        (np.s_[...], (2, 3, 4), ["Alias"]),
        (np.s_[:, :], (2, 3, 4), ["Alias"]),
        (np.s_[0:5, 1], (2, 4), ["Select"]),
        (np.s_[1:, ..., -1], (1, 3), ["Select", "Slice"]),
        (np.s_[:, None], (2, 1, 3, 4), ["Unsqueeze"]),
        (True, (1, 2, 3, 4), ["Index", "Unsqueeze"]),
        ([0, 1], (2, 3, 4), ["Index"]),
        ([[0, 1], [1, 0]], (2, 4), ["Index"]),
        ([True, False], (1, 3, 4), ["Index"]),
        (av.tensor(1), (3, 4), ["Select"]),
        ((0, slice(None), ONES), (3, 2), ["Index", "Select"]),
        ((ONES, slice(None), ONES), (2, 3), ["Index"]),
        ((ONES, None, ONES), (2, 1, 4), ["Index", "Unsqueeze"]),
        (np.array([[0, 1], [1, 1]]), (2, 2, 3, 4), ["Index"]),
        ([], (0, 3, 4), ["Index"]),
    ],
)
def test_an_index_makes_the_nodes_that_pytorch_makes(index: Any, shape: tuple[int, ...], nodes: list[str]) -> None:
    result = x[index]
    assert (tuple(result.shape), names(result)) == (shape, nodes)


def test_the_node_of_an_index_saves_a_tensor_for_each_dimension_and_none_for_a_colon() -> None:
    saved = x[:, [0, 1]].grad_fn._saved_indices
    assert saved[0] is None
    assert saved[1].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (np.s_[::-1], ValueError, "step must be greater than zero"),
        (1.5, IndexError, "only integers, slices .* are valid indices \\(got float\\)"),
        (av.tensor([5]), IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (av.tensor([1.0]), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        (av.tensor([True, False, True]), IndexError, r"The shape of the mask \[3\] at index 0 does not match"),
        ((av.tensor([0, 1, 0]), ONES), IndexError, r"could not be broadcast together with shapes \[3\], \[2\]"),
    ],
)
def test_a_wrong_index_is_refused_in_pytorchs_words(index: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        x[index]


def test_an_index_that_names_an_element_twice_adds_up_its_gradients() -> None:
    v = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v[[0, 0, 2]].sum().backward()
    assert v.grad.tolist() == [2.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("write", "node", "values", "gradient"),
    [
        (lambda b, w: b.__setitem__(0, w), "torch::autograd::CopySlices", [[7.0, 8.0], [3.0, 4.0]], [[0, 0], [1, 1]]),
        (lambda b, w: b.__setitem__((0, 1), 9), "torch::autograd::CopySlices", [[1.0, 9.0], [3.0, 4.0]], [[1, 0], [1, 1]]),
        (lambda b, w: b.__setitem__(slice(None), w[0]), "FillBackward3", [[7.0, 7.0], [7.0, 7.0]], [[0, 0], [0, 0]]),
        (lambda b, w: b.__setitem__(b > 2, 0), "IndexPutBackward0", [[1.0, 2.0], [0.0, 0.0]], [[1, 1], [0, 0]]),
        (lambda b, w: b.__setitem__(([0, 1], [1, 0]), w), "IndexPutBackward0", [[1.0, 7.0], [8.0, 4.0]], [[1, 0], [0, 1]]),
    ],
)
def test_an_assignment_cuts_the_gradient_of_what_it_overwrites(
    write: Callable[..., None], node: str, values: list[Any], gradient: list[Any]
) -> None:
    m = av.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = av.tensor([7.0, 8.0], requires_grad=True)
    b = m.clone()
    write(b, w)
    assert (b.grad_fn.name(), b.tolist()) == (node, values)
    b.sum().backward()
    assert m.grad.tolist() == gradient


@pytest.mark.parametrize(
    ("index", "value", "error", "text"),
    [
        (0, av.ones(2), RuntimeError, r"The expanded size of the tensor \(3\) must match the existing size \(2\)"),
        (0, [1, 2, 3], TypeError, "can't assign a list to a torch.FloatTensor"),
        ([0, 1], av.ones(2, 2), RuntimeError, r"shape mismatch: value tensor of shape \[2, 2\] cannot be broadcast"),
        ([0, 1], av.ones(3, dtype=av.float64), RuntimeError, "got Float for the destination and Double for the source"),
    ],
)
def test_a_wrong_assignment_is_refused_in_pytorchs_words(index: Any, value: Any, error: type[Exception], text: str) -> None:
    b = av.zeros(2, 3)
    with pytest.raises(error, match=text):
        b[index] = value
    assert b.tolist() == [[0.0] * 3] * 2
