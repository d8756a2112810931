"""Random numbers as ops, and their seeds. The result does not depend on the input's values, so each gradient is zero."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.names import zeros_like
from ...op import INPLACE, Primitive, primitive, public, row
from ...tensor import Tensor, refuse, refuse_if
from ...tensor import factories as _factories  # noqa: F401 -- puts new_zeros and its like on Tensor
from ...tensor.creation import drawn
from ...tensor.random import Generator, chosen, default_generator, laid_out


def filling(node_name: str) -> Callable[..., Primitive]:
    """Declare an op such as `uniform_fill`, and publish it as the method `uniform_`."""
    def declared(forward: Callable[..., Any]) -> Primitive:
        op = INPLACE[forward.__name__.removesuffix("_fill")] = primitive(node_name)(forward)
        op.defvjp(self = lambda grad: zeros_like(grad))
        return op
    return declared


@filling("UniformBackward0")
def uniform_fill(self, *, low=0, high=1, generator=None):
    """Uniform numbers in [low, high), for uniform_()."""
    refuse(self, "iub", "check_uniform_bounds")
    refuse_if(low > high, lambda: f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    return laid_out(chosen(generator).uniform(self.size, self.dtype, low, high), self)


@filling("NormalBackward0")
def normal_fill(self, *, mean=0, std=1, generator=None):
    """Normal numbers, for normal_()."""
    refuse(self, "iub", "normal_kernel_cpu")
    _check_std(std)
    return laid_out(chosen(generator).normal(self.size, self.dtype, mean, std, self.flags.c_contiguous), self)


@filling("ExponentialBackward0")
def exponential_fill(self, *, lambd=1, generator=None):
    """Exponential numbers, for exponential_()."""
    refuse_if(not lambd > 0, lambda: f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return laid_out(chosen(generator).exponential(self.size, lambd).astype(self.dtype), self)


@filling("RandomBackward0")
def random_fill(self, *, low=None, high=None, generator=None):
    """Whole numbers for random_(): from [low, high), from [0, low) for one number, or from the range of the type."""
    if high is None:
        low, high = 0, low
    if high is None:
        kind = self.dtype.kind
        most = 1 if kind == "b" else 2 ** (np.finfo(self.dtype).nmant + 1) if kind == "f" else np.iinfo(self.dtype).max
        high = int(most) + 1  # the type holds all whole numbers below
        if self.dtype.itemsize < 8:
            return laid_out((chosen(generator).words(self.size) % np.uint64(high)).astype(self.dtype), self)
    refuse_if(low >= high, lambda: f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return laid_out(chosen(generator).integers(self.size, low, high).astype(self.dtype), self)


@primitive("BernoulliBackward2")
def bernoulli_number_fill(self, *, p=0.5, generator=None):
    """1 with probability p, else 0."""
    refuse_if(not 0 <= p <= 1, lambda: f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    return laid_out((chosen(generator).doubles(self.size) < p).astype(self.dtype), self)
bernoulli_number_fill.defvjp(self = lambda grad: zeros_like(grad))


bernoulli_tensor_fill = row("bernoulli_tensor_fill", "BernoulliBackward1", "1 where a uniform number is below p, else 0.",
    lambda self, p, *, generator=None: _bernoulli(np.broadcast_to(p, self.shape), generator).astype(self.dtype),
    self = lambda grad:    zeros_like(grad),
    p    = lambda grad, p: zeros_like(p))
bernoulli_draw = row("bernoulli_draw", "BernoulliBackward0", "1 with the probability in `self`, else 0.",
    lambda self, *, generator=None: _bernoulli(self, generator).astype(self.dtype),
    self = lambda grad: zeros_like(grad))


@public("torch.poisson")
@primitive("PoissonBackward0")
def poisson(self, *, generator=None):
    """Poisson numbers with the rates `self`."""
    refuse_if((self < 0).any(), "invalid Poisson rate, expected rate to be non-negative")
    return np.array([_poisson(r, chosen(generator)) for r in self.reshape(-1)], self.dtype).reshape(self.shape)
poisson.defvjp(self = lambda grad, self: zeros_like(self))


@primitive("NormalBackward1")
def normal_around(mean, *, std=1.0, generator=None):
    """Normal numbers, each with its own mean."""
    _check_std(std)
    return chosen(generator).normal(mean.size, mean.dtype).reshape(mean.shape) * mean.dtype.type(std) + mean
normal_around.defvjp(mean = lambda grad, mean_sym_sizes: zeros_like(grad))


@primitive("NormalBackward2")
def normal_spread(std, *, mean=0.0, generator=None):
    """Normal numbers, each with its own standard deviation."""
    refuse_if((std < 0).any(), "normal expects all elements of std >= 0.0")
    return chosen(generator).normal(std.size, std.dtype).reshape(std.shape) * std + std.dtype.type(mean)
normal_spread.defvjp(std = lambda grad, std_sym_sizes: zeros_like(grad))


@primitive("NormalBackward3", promotes=True)
def normal_both(mean, std, *, generator=None):
    """Normal numbers, each with its own mean and standard deviation."""
    refuse_if((std < 0).any(), "normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(mean.shape, std.shape)
    return chosen(generator).normal(int(np.prod(shape)), mean.dtype).reshape(shape) * std + mean
normal_both.defvjp(
    mean = lambda grad, mean_sym_sizes: zeros_like(grad),
    std  = lambda grad, std_sym_sizes: zeros_like(grad))


@primitive()
def multinomial_draw(self, *, num_samples, replacement=False, generator=None):
    """Random indices with the weights `self`, row by row."""
    source = chosen(generator)
    if not replacement or num_samples == 1:  # the largest of weight / exponential number is chosen first
        race = self / source.exponential(self.size).astype(self.dtype).reshape(self.shape)
        return np.argsort(-race, -1, kind="stable")[..., :num_samples].astype(np.int64, copy=False)
    rows = self.reshape(-1, self.shape[-1])
    sums = np.cumsum(rows, -1, dtype=self.dtype)
    sums = sums / sums[:, -1:]
    picks = source.doubles(len(rows) * num_samples).reshape(len(rows), num_samples)
    found = np.stack([np.searchsorted(s, p.astype(self.dtype)) for s, p in zip(sums, picks, strict=True)])
    return found.reshape(*self.shape[:-1], num_samples)


def _check_std(std: float) -> None:
    refuse_if(std < 0, lambda: f"normal expects std >= 0.0, but found std {std:g}")


def _bernoulli(p: Any, generator: Generator | None) -> Any:
    refuse_if(p.size and not ((p >= 0) & (p <= 1)).all(),
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  "
        "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
    return chosen(generator).uniform(p.size, p.dtype).reshape(p.shape) < p


def _poisson(rate: float, source: Generator) -> int:
    """A product of uniform numbers sinks below exp(-rate) after so many; from rate 10 on, these differ from PyTorch's."""
    if rate == 0:
        return 0
    limit, product, count = np.exp(-float(rate)), 1.0, -1
    while product > limit or count < 0:
        product *= float(source.doubles(1)[0])
        count += 1
    return count


@public("torch.bernoulli", "Tensor.bernoulli")
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Any:
    """1 with the probability in `input` (or with `p`), else 0."""
    return bernoulli_draw(input, generator=generator) if p is None else bernoulli_number_fill(input, p=p, generator=generator)


def bernoulli_fill(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Any:
    """1 with probability `p`, else 0, for bernoulli_()."""
    return (bernoulli_tensor_fill if isinstance(p, Tensor) else bernoulli_number_fill)(self, p, generator=generator)


INPLACE["bernoulli"] = bernoulli_fill


@public("torch.normal")
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, **made: Any) -> Any:
    """Normal numbers with the given `mean` and `std` (tensors or numbers). Raises TypeError: two numbers without `size`.

    Args:
        mean: the mean.
        std: the standard deviation.
        size: the shape, if both are numbers.
        generator: the source of the numbers.
        made: dtype and requires_grad, with `size`.
    """
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        return normal_both(mean, std, generator=generator)
    if isinstance(mean, Tensor):
        return normal_around(mean, std=std, generator=generator)
    if isinstance(std, Tensor):
        return normal_spread(std, mean=mean, generator=generator)
    refuse_if(size is None, "normal() received an invalid combination of arguments - got two numbers and no size", TypeError)
    _check_std(std)
    return drawn("normal", size, lambda n, dtype: chosen(generator).normal(n, dtype, mean, std), **made)


@public("multinomial")
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Any:
    """Random indices with the weights `input`, `num_samples` per row.

    Raises RuntimeError: negative or infinite weights, or more samples than there are, in PyTorch's words.
    """
    weights = input._data
    refuse_if(input.ndim not in (1, 2), "prob_dist must be 1 or 2 dim")
    refuse_if(num_samples <= 0, "cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    refuse_if((weights.sum(-1) <= 0).any(), "invalid multinomial distribution (sum of probabilities <= 0)")
    return multinomial_draw(input, num_samples=num_samples, replacement=replacement, generator=generator)


@public("torch.manual_seed")
def manual_seed(seed: int) -> Generator:
    """Make all later random numbers repeatable. They equal PyTorch's for that seed on the CPU."""
    return default_generator.manual_seed(seed)


@public("torch.get_rng_state")
def get_rng_state() -> Tensor:
    """The state of the random numbers, as bytes, for `set_rng_state`."""
    return default_generator.get_state()


@public("torch.set_rng_state")
def set_rng_state(new_state: Tensor) -> None:
    """Restore a state from `get_rng_state`."""
    default_generator.set_state(new_state)


public("torch.initial_seed")(default_generator.initial_seed)
public("torch.seed")(default_generator.seed)
public("torch.Generator")(Generator)
