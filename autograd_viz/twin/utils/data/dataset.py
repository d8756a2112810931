"""Datasets: examples by index."""

from __future__ import annotations

import itertools
import math
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.tensor import Generator, chosen, refuse_if


class Dataset:
    """Subclass it with ``__getitem__`` and ``__len__``."""

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Subclass it with ``__iter__``, which yields examples."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """Tensors with the same first length. Example i is the tuple of their i-th slices."""

    def __init__(self, *tensors: Any) -> None:
        refuse_if(any(tensors[0].shape[0] != t.shape[0] for t in tensors), "Size mismatch between tensors", AssertionError)
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class Subset(Dataset):
    """Some of the examples."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """The examples of several datasets, one dataset after the other."""

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)
        refuse_if(not self.datasets, "datasets should not be an empty iterable", AssertionError)
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            refuse_if(-index > len(self), "absolute value of index should not exceed dataset length", ValueError)
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class StackDataset(Dataset):
    """Datasets of one length. Example i is the tuple (or dictionary) of their i-th examples."""

    def __init__(self, *datasets: Any, **named: Any) -> None:
        if datasets and named:
            kinds = "``tuple``- (via ``args``) or``dict``- (via ``kwargs``)"
            raise ValueError(f"Supported either {kinds} like input/output, but both types are given.")
        refuse_if(not datasets and not named, "At least one dataset should be passed", ValueError)
        self.datasets: Any = datasets or named
        self._length, *others = {len(d) for d in (datasets or named.values())}
        refuse_if(others, "Size mismatch between datasets", ValueError)

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: d[index] for name, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self) -> int:
        return self._length


class ChainDataset(IterableDataset):
    """Iterable datasets, one after the other."""

    def __init__(self, datasets: Any) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Split a dataset at random into parts of these lengths (ValueError: others), or of these fractions if their sum is 1."""
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        refuse_if(any(not 0 <= share <= 1 for share in lengths), "Fraction at index 0 is not between 0 and 1", ValueError)
        counts = [math.floor(total * share) for share in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
        lengths = counts
    for i in (i for i, length in enumerate(lengths) if length == 0):
        warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", UserWarning, stacklevel=2)
    refuse_if(sum(lengths) != total, "Sum of input lengths does not equal the length of the input dataset!", ValueError)
    order = chosen(generator).permutation(total).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths, strict=True)]
