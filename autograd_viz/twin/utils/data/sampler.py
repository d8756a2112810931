"""Samplers: the order in which a DataLoader reads the examples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.base.dtypes import float64
from ...core.ops.random.random import multinomial_draw
from ...core.tensor.creation import tensor
from ...core.tensor.random import Generator, chosen


class Sampler:
    """An order of indices."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order; or `num_samples` of them, or with replacement."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Generator | None = None
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples

    def __iter__(self) -> Iterator[int]:
        generator, n = self.generator, len(self.data_source)
        if generator is None:  # a separate stream, so that random numbers in the loop do not change the order
            generator = Generator().manual_seed(fresh_seed(None))
        size = 32 if self.replacement else max(n, 1)
        for left in range(self.num_samples, 0, -size):
            drawn = generator.integers(size, 0, n) if self.replacement else generator.permutation(n)
            yield from drawn.tolist()[:left]

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Indices in batches."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        n: int = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


class SubsetRandomSampler(Sampler):
    """Some indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        yield from (self.indices[place] for place in chosen(self.generator).permutation(len(self.indices)).tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Random indices with the given weights."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        self.weights = tensor(np.asarray(weights), dtype=float64)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        options = {"num_samples": self.num_samples, "replacement": self.replacement, "generator": self.generator}
        yield from multinomial_draw(self.weights, **options).tolist()

    def __len__(self) -> int:
        return self.num_samples


def fresh_seed(generator: Generator | None) -> int:
    """A random seed from a generator."""
    return int(chosen(generator).double_words(1)[0] % np.uint64(2**63))
