"""The numbers of gradients and updates, on their device: nothing here waits for it.

# Note [Few ops]
On a CPU, an op for each small parameter costs more than its bytes. So parameters that differ only in their first size lie
in one tensor, and one `torch.cat` copies them. A GPU copies all parameters in one kernel anyway.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from itertools import islice
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")

SAMPLED = 65_536  # elements of a gradient that are counted; of a larger one a regular sample


def without_grad(act: Callable[P, R]) -> Callable[P, R]:
    """`no_grad()` for a step of a small model, where PyTorch's is dear."""

    @functools.wraps(act)
    def inside(*args: P.args, **options: P.kwargs) -> R:
        was = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)
        try:
            return act(*args, **options)
        finally:
            torch._C._set_grad_enabled(was)

    return inside


def own(tensor: Any) -> Any:
    """A tensor without its graph; of one that is spread over ranks the shard of this rank."""
    tensor = tensor.detach()
    return tensor.to_local() if is_spread(tensor) else tensor


def own_size(tensor: torch.Tensor) -> int:
    """Its number of elements; of one that is spread over ranks, those of this rank."""
    return int(own(tensor).numel())


def is_spread(tensor: object) -> bool:
    """Is it a DTensor, as the parameters of FSDP2 are?"""
    return hasattr(tensor, "to_local")


def is_plain(tensor: Any) -> bool:
    """Is it dense, and of no subclass?"""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided


def real(tensor: Any) -> Any:
    """The numbers of a gradient as a dense real tensor: the values of a sparse one, the own shard of a distributed one."""
    tensor = own(tensor)
    if tensor.layout is not torch.strided:
        tensor = tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor.to_dense()
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def stacked(scalars: Sequence[Any]) -> Any:
    """Scalars as one tensor, on the device of the first."""
    device = scalars[0].device
    return torch.stack([s if s.device == device else s.to(device, non_blocking=True) for s in scalars])


def as_numbers(numbers: Any) -> Any:
    """Floats if they are on a CPU; else a copy, and nothing waits for its device."""
    return numbers.tolist() if numbers.device.type == "cpu" else numbers.clone()


def floats(numbers: Sequence[Any]) -> Sequence[Any]:
    """Floats for tensors; their device is waited for once."""
    if not any(issubclass(kind, torch.Tensor) for kind in set(map(type, numbers))):
        return numbers
    waiting = [n.reshape(-1).float() for n in numbers if isinstance(n, torch.Tensor)]
    known = iter(torch.cat([w.to(waiting[0].device) for w in waiting]).tolist())
    read = [list(islice(known, n.numel())) if isinstance(n, torch.Tensor) else n for n in numbers]
    return [n if isinstance(n, list) else [n] for n in read]


def norms(tensors: Sequence[Any]) -> list[Any]:
    """The Euclidean norm of each: scalars, float32."""
    if all(t.dtype is torch.float32 for t in tensors):
        return list(torch._foreach_norm(list(tensors)))
    wide = [torch.float32 if t.dtype.itemsize < 4 else t.dtype for t in tensors]
    return [torch.linalg.vector_norm(t, dtype=w).float() for t, w in zip(tensors, wide, strict=True)]


def largest(tensors: Sequence[Any]) -> Any:
    """The largest absolute value of each, float32; nan if there is one."""
    least, most = zip(*(torch.aminmax(t) if t.numel() else (t.new_zeros(()),) * 2 for t in tensors), strict=True)
    return torch.maximum(stacked(most), -stacked(least)).float()


def zeros(tensors: Sequence[Any]) -> Any:
    """The share of zeros of each, from 0 to 1, float32."""
    samples = [_sample(t) for t in tensors]
    counts = stacked([torch.count_nonzero(t) for t in samples])
    return 1 - counts / torch.tensor([max(1, t.numel()) for t in samples], device=counts.device)


def _sample(tensor: torch.Tensor) -> Any:
    """A large tensor's regular sample of at most `SAMPLED` elements."""
    count = tensor.numel()
    return tensor.view(-1)[:: count // SAMPLED + 1] if count > SAMPLED and tensor.is_contiguous() else tensor


def update_ratios(before: Sequence[Any], after: Sequence[Any]) -> Any:
    """For each parameter, the norm of its update divided by the norm that it had, float32."""
    moved = torch._foreach_sub([own(a) for a in after], list(before))
    return stacked(norms([real(m) for m in moved])) / stacked(norms([real(b) for b in before]))


class Copies:
    """Copies of parameters, of shards that of this rank."""

    def __init__(self, live: Sequence[Any]) -> None:
        self._live = list(live)
        self._make()

    def _make(self) -> None:
        self._kept_as = self._live[0].device, self._live[0].dtype
        alike = dict[Hashable, list[int]]()
        for place, p in enumerate(self._live):
            alike.setdefault(_kind(p), []).append(place)
        alone = alike.pop(None, [])
        copies = {place: own(self._live[place]).clone() for place in alone}
        self._alone = [self._live[place] for place in alone], list(copies.values())
        self._is_spread = any(map(is_spread, self._alone[0]))
        self._together = list[tuple[list[Any], Any]]()
        for places in alike.values():
            parameters = [self._live[place] for place in places]
            whole = torch.cat([p.detach() for p in parameters])
            self._together.append((parameters, whole))
            copies.update(zip(places, whole.split([len(p) for p in parameters]), strict=True))
        self.tensors = [copies[place] for place in range(len(copies))]

    def take(self) -> None:
        """Copy the parameters as they are now; under `no_grad`."""
        if self._kept_as != (self._live[0].device, self._live[0].dtype):  # the model has moved
            self._make()
            return
        for parameters, whole in self._together:
            torch.cat(parameters, out=whole)
        alone, copies = self._alone
        if alone:
            torch._foreach_copy_(copies, [own(p) for p in alone] if self._is_spread else alone)

    def differ(self) -> bool:
        """Has a parameter moved since? One that was nan has not."""
        return any(bool(((own(p) != was) & ~was.isnan()).any()) for p, was in zip(self._live, self.tensors, strict=True))


def _kind(p: Any) -> Hashable:
    """What parameters have in common that are copied together; None if it is copied alone."""
    is_alike = is_plain(p) and p.device.type == "cpu" and p.dim() and p.is_contiguous()
    return (p.dtype, p.shape[1:]) if is_alike else None
