"""Every public function that takes a dim, with each dim from the front and from the back, beside PyTorch."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.twin.core.base.public import NAMESPACES
from autograd_viz.twin.core.methods import load_more
from autograd_viz.twin.core.op.primitive import Primitive

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
load_more()

DIMS = ("dim", "dims", "dim0", "dim1", "dim2", "dimension", "axis")


def values(*shape: int, first: int = 0) -> Any:
    return np.cos(np.arange(first, first + np.prod(shape)) * 1.7).reshape(shape)


INPUT, OTHER = values(3, 3, 3), values(3, 3, 3, first=50)
INDEX, PLACES = np.array([1, 0, 1]), np.array([1, 0, 0, 1, 1, 0, 2, 1]).reshape(2, 2, 2)
# what a function needs besides its dims: by name, or as a tuple of all that stands before them; arrays stand for tensors
ALSO: dict[str, Any] = {
    "Tensor.chunk": {"chunks": 2},
    "Tensor.cross": {"other": OTHER},
    "Tensor.gather": {"index": PLACES},
    "Tensor.index_add": {"index": INDEX, "source": OTHER},
    "Tensor.index_copy": {"index": np.array([2, 0, 1]), "source": OTHER},
    "Tensor.index_fill": {"index": INDEX, "value": 2.0},
    "Tensor.index_select": {"index": INDEX},
    "Tensor.kthvalue": {"k": 2},
    "Tensor.nanquantile": {"q": 0.3},
    "Tensor.narrow": {"start": 1, "length": 2},
    "Tensor.quantile": {"q": np.array([0.3, 0.8])},
    "Tensor.renorm": {"p": 2, "maxnorm": 1.0},
    "Tensor.repeat_interleave": {"repeats": np.array([2, 0, 1])},
    "Tensor.roll": {"shifts": (1, -2)},
    "Tensor.rot90": {"k": 1},
    "Tensor.scatter": {"index": np.array([[[0]], [[2]]]), "src": values(2, 1, 1)},
    "Tensor.scatter_add": {"index": PLACES, "src": values(2, 2, 2)},
    "Tensor.scatter_reduce": {"index": PLACES, "src": values(2, 2, 2), "reduce": "mean"},
    "Tensor.select": {"index": 1},
    "Tensor.split": (INPUT, 2),
    "Tensor.split_with_sizes": {"split_sizes": (1, 2)},
    "Tensor.take_along_dim": {"indices": PLACES[:1, :1, :1]},
    "Tensor.tensor_split": (INPUT, (1,)),
    "Tensor.topk": {"k": 2},
    "Tensor.unflatten": {"sizes": (3, 1)},
    "Tensor.unfold": {"size": 2, "step": 1},
    "Tensor.unique": (PLACES,),
    "Tensor.unique_consecutive": (PLACES,),
    "linalg.cross": {"other": OTHER},
    "linalg.vecdot": {"y": OTHER},
    "nn.functional.cosine_similarity": {"x2": OTHER},
    "nn.functional.glu": (values(4, 4, 4),),
    "torch._softmax_backward_data": (INPUT, OTHER),
    "torch.concatenate": ([INPUT, OTHER],),
    "torch.stack": ([INPUT, OTHER],),
    "torch.tensordot": {"b": OTHER},
}
# of functions that take several dims: those that a dim `d` stands for
SEVERAL: dict[str, Callable[[int], Any]] = {
    "permute": lambda d: (d, (d + 1) % 3, (d + 2) % 3),
    "tensordot": lambda d: ([d, (d + 1) % 3], [(d + 1) % 3, d]),
    **dict.fromkeys(
        ("flip", "roll", "rot90", "matrix_norm", *(n for n in NAMESPACES["fft"] if n.endswith(("2", "n", "shift")))),
        lambda d: ((d + 1) % 3, d),
    ),
}
WITHOUT = {
    "Tensor.slice": "PyTorch writes it x[a:b]",
    "Tensor.tile": "its dims are counts",
    "torch._softmax_backward_data": "a part of softmax",
}


def parameters(function: Any) -> list[str]:
    if isinstance(function, Primitive):
        return [*function.inputs, *function.options]
    return list(inspect.signature(function).parameters)


def taking_dims() -> dict[str, tuple[str, ...]]:
    """The dim parameters of each public function that has one, by full name; a function with two names once."""
    found: dict[Any, tuple[str, tuple[str, ...]]] = {}
    for space in sorted(NAMESPACES):
        for name, function in sorted(NAMESPACES[space].items(), reverse=True):
            if callable(function) and not isinstance(function, type) and inspect.unwrap(function) not in found:
                dims = tuple(p for p in parameters(function) if p in DIMS)
                if dims:
                    found[inspect.unwrap(function)] = f"{space}.{name}", dims
    return dict(found.values())


FUNCTIONS = taking_dims()


def choices(full_name: str) -> Iterator[dict[str, Any]]:
    """Every choice of the dims, of tensors with 3 dimensions."""
    name, dims = full_name.rpartition(".")[2], FUNCTIONS[full_name]
    ndim = 4 if name in ("stack", "unsqueeze", "unsqueeze_", "diag_embed") else 3  # of the result
    if dims[0][-1] in "01":
        for pair in itertools.product(range(-ndim, ndim), repeat=2):
            if (pair[0] - pair[1]) % ndim:
                yield dict(zip(dims, pair, strict=True))
        return
    for d in range(-ndim, ndim):
        yield {dims[0]: SEVERAL[name](d) if name in SEVERAL else d}


def called(t: Any, full_name: str, dims: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The results of the function, and the tensors that it was given and that require grad."""
    leaves: list[Any] = []

    def given(value: Any) -> Any:
        if isinstance(value, list):
            return [given(v) for v in value]
        if not isinstance(value, np.ndarray):
            return value
        made = t.tensor(value, requires_grad=value.dtype == float)
        leaves.extend([made] if made.requires_grad else [])
        return made * 1 if full_name.endswith("_") else made

    function: Any = t
    for part in full_name.removeprefix("torch.").split("."):
        function = getattr(function, part)
    also = ALSO.get(full_name, {})
    first, named = (also, {}) if isinstance(also, tuple) else ((INPUT,), also)
    t.manual_seed(0)
    results = function(*map(given, first), **{k: given(v) for k, v in named.items()}, **dims)
    return [results] if hasattr(results, "shape") else list(results), leaves


def outcome(t: Any, full_name: str, dims: dict[str, Any]) -> list[Any]:
    """Values, gradients and second gradients."""
    found, leaves = called(t, full_name, dims)
    roots = found
    for _ in range(2):
        roots = [r for r in roots if r.requires_grad]
        if not roots:
            break
        loss = sum((abs(r) ** 2 * t.arange(1.0, r.numel() + 1).reshape(r.shape)).sum() for r in roots)
        grads = t.autograd.grad(loss, leaves, allow_unused=True, create_graph=True)
        roots = [t.zeros(1) if g is None else g for g in grads]
        found = found + roots
    return [f.detach().resolve_conj().numpy() for f in found]


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in WITHOUT])
def test_a_dim_means_what_it_means_in_pytorch(name: str) -> None:
    for dims in choices(name):
        got, want = outcome(av, name, dims), outcome(torch, name, dims)
        assert [g.shape for g in got] == [w.shape for w in want], dims
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-7, atol=1e-9, err_msg=str(dims))


def test_every_function_with_a_dim_is_tried() -> None:
    assert {*ALSO, *WITHOUT} <= FUNCTIONS.keys()
    assert len(FUNCTIONS) >= 107
