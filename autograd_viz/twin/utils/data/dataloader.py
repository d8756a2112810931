"""DataLoader: a dataset in batches, optionally shuffled, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.base.dtypes import float64
from ...core.ops.shape.joining import stack
from ...core.tensor import Generator, Tensor, as_tensor, refuse_if
from ...core.tensor.creation import tensor
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, fresh_seed


def default_collate(batch: Sequence[Any]) -> Any:
    """Examples as a batch: tensors stacked, numbers as a tensor, tuples and dictionaries by parts. Raises TypeError."""
    first = batch[0]
    if isinstance(first, Tensor | np.ndarray):
        return stack([as_tensor(b) for b in batch], 0)
    if isinstance(first, int | float | np.generic):
        return tensor(list(batch), dtype=float64 if isinstance(first, float) else None)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([b[key] for b in batch]) for key in first}
    if isinstance(first, tuple | list):
        parts = [default_collate(list(part)) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


class DataLoader:
    """Iterates over a dataset in batches; with a `batch_size` of None, over single examples.

    The dataset has ``__getitem__`` and ``__len__``, or is an IterableDataset. `shuffle`: a new random order in each epoch, from
    the `generator`; `sampler` gives another order, `batch_sampler` the indices of each batch. `collate_fn` makes a batch from a
    list of examples. `drop_last` drops an incomplete last batch. The other options have no effect.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Generator | None = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        refuse_if(sampler is not None and shuffle, "sampler option is mutually exclusive with shuffle", ValueError)
        self.dataset, self.batch_size, self.drop_last, self.generator = dataset, batch_size, drop_last, generator
        self.num_workers, self.collate_fn = num_workers, collate_fn or (default_collate if batch_size else _as_is)
        self._iterable = isinstance(dataset, IterableDataset)
        if sampler is None and not self._iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler

    def __iter__(self) -> Iterator[Any]:
        fresh_seed(self.generator)  # PyTorch draws a seed for its workers, even without workers
        return map(self.collate_fn, self._collections())

    def _collections(self) -> Iterator[Any]:
        """Single examples, or the list of those of each batch."""
        if self._iterable:
            yield from self.dataset if self.batch_size is None else BatchSampler(self.dataset, self.batch_size, self.drop_last)
        elif self.batch_sampler is None:
            yield from (self.dataset[i] for i in self.sampler)
        else:
            yield from ([self.dataset[i] for i in batch] for batch in self.batch_sampler)

    def __len__(self) -> int:
        return len(self.batch_sampler if self.batch_sampler is not None else self.sampler)


def get_worker_info() -> None:
    """None: everything is loaded in this process."""


def _as_is(example: Any) -> Any:
    return tensor(example) if isinstance(example, float | int | np.ndarray) else example
