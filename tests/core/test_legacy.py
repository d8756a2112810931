"""The types from before dtypes, and the type that NumPy lacks, beside PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

SOURCES = """
m.Tensor(np.array([1, 2]))
m.Tensor(np.array([1.0, 2.0]))
m.Tensor(np.array([1, 2], np.float32))
m.Tensor(np.arange(6).reshape(2, 3))
m.Tensor(np.array(3.0))
m.Tensor(np.array([True]))
m.Tensor(range(3))
m.Tensor(np.float64(3))
m.Tensor(np.int64(3)).shape
m.Tensor(3.0)
m.Tensor(m.ones(2, dtype=m.int64))
m.tensor(range(3))
m.FloatTensor(np.array([1, 2]))
m.FloatTensor([np.array([1, 2]), np.array([3, 4])])
m.FloatTensor((2, 3))
m.FloatTensor(m.Size([2, 3])).shape
m.FloatTensor(2, device="cpu").shape
m.FloatTensor()
m.FloatTensor(x)
m.LongTensor(np.array([1.5, 2]))
m.LongTensor([1.5, 2])
m.LongTensor(m.tensor(3))
m.ByteTensor([1, 255])
m.BoolTensor([1, 0])
m.HalfTensor([1])
m.FloatTensor
m.FloatTensor.dtype
m.BFloat16Tensor
isinstance(x, m.FloatTensor)
isinstance(x, (m.DoubleTensor, m.cuda.FloatTensor))
isinstance(x.double(), m.DoubleTensor)
isinstance(m.nn.Parameter(x), m.FloatTensor)
isinstance(3, m.FloatTensor)
issubclass(m.FloatTensor, m.Tensor)
x.type()
x.type(m.FloatTensor)
x.type(m.LongTensor)
x.type("torch.LongTensor")
x.type(m.float64)
x.type("foo")
x.type(3)
m.cuda.FloatTensor([1])
m.set_default_tensor_type(m.float32)
m.set_default_tensor_type(m.LongTensor)
m.set_default_tensor_type("torch.cuda.FloatTensor")
m.set_default_tensor_type(m.DoubleTensor), m.tensor([1.5]), m.Tensor([1]), m.Tensor(np.ones(1, np.float32)).dtype
m.bfloat16, m.bfloat16.is_floating_point, x.dtype == m.bfloat16, m.bfloat16 in (m.float16, m.bfloat16)
""".strip().splitlines()
OF_CUDA = ("m.cuda.FloatTensor([1])", 'm.set_default_tensor_type("torch.cuda.FloatTensor")')
if torch.version.cuda:  # such a build looks for a driver, and without one every later tensor fails
    SOURCES = [source for source in SOURCES if source not in OF_CUDA]


def said(m: Any, source: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTorch has retired
        try:
            return repr(eval(source, {"m": m, "np": np, "x": m.ones(2)}))
        except (TypeError, ValueError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            m.set_default_dtype(m.float32)


@pytest.mark.parametrize("source", SOURCES)
def test_an_old_type_makes_and_names_the_same_tensors(source: str) -> None:
    assert said(av, source) == said(torch, source)


def test_an_array_of_the_default_type_is_shared_as_in_pytorch() -> None:
    for m in (av, torch):
        array = np.ones(2, np.float32)
        m.Tensor(array)[0] = 5.0
        assert array[0] == 5.0


def test_the_package_itself_keeps_the_type_of_its_arrays() -> None:
    class Mine(av.Tensor):
        pass

    assert av.from_numpy(np.arange(3)).dtype is av.int64
    assert (av.ones(2) > 0).dtype is av.bool
    assert Mine(np.arange(3)).dtype is av.float32  # the user's own call


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, t: x.to(t),
        lambda x, t: x.type(t),
        lambda x, t: av.zeros(2, dtype=t),
        lambda x, t: av.tensor([1.0], dtype=t),
        lambda x, t: av.BFloat16Tensor([1]),
        lambda x, t: x.sum(dtype=t),
        lambda x, t: av.nn.Linear(2, 2).to(t),
        lambda x, t: av.nn.Linear(2, 2, dtype=t),
        lambda x, t: av.set_default_dtype(t),
        lambda x, t: av.promote_types(t, av.float32),
        lambda x, t: av.finfo(t),
    ],
)
def test_what_computes_with_bfloat16_is_refused_by_its_name(compute: Any) -> None:
    with pytest.raises(TypeError, match=r"no numbers of type torch\.bfloat16, because NumPy lacks it"):
        compute(av.ones(2), av.bfloat16)
    assert av.ones(1).dtype is av.float32


def bags(m: Any) -> Any:
    return m.nn.functional.embedding_bag(m.tensor([[1, 2], [0, 1]]), m.arange(6.0).reshape(3, 2), include_last_offset=True)


def elements(m: Any) -> Any:
    with pytest.warns(UserWarning, match="use reduction='none' instead"):
        return m.nn.functional.mse_loss(m.tensor([1.0, 3.0]), m.zeros(2), reduce=False)


def normal(m: Any) -> Any:
    m.manual_seed(0)
    return m.normal(m.zeros(3))


@pytest.mark.parametrize("compute", [bags, elements, normal])
def test_an_option_that_is_old_or_left_out_means_what_it_means_there(compute: Any) -> None:
    assert np.allclose(compute(av).numpy(), compute(torch).numpy())
