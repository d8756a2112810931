"""A device for PyTorch that is not the CPU: `box:0`. Its memory is the host's, but PyTorch does not know that.

PyTorch's own means for a device written in Python (the PrivateUse1 key) with real storages: a tensor has an address, views
share it, `numpy()` is refused, and PyTorch's engine runs its nodes in the thread of a device, as those of CUDA tensors. Kernels
compute on the CPU. The way from the device to the host is counted.

Import it before anything has run backward: PyTorch counts its devices then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "box"
CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
VIEWS = ("as_strided", "view", "_reshape_alias", "unfold", "alias")
aten = torch.ops.aten
memory: list[Any] = []  # everything allocated, for as long as the process lives
copied: list[int] = []  # bytes of each copy to the host
missing: set[str] = set()  # ops that the device is made to lack
ran: list[str] = []  # names of the kernels that have run, and "synchronize"


class Stream:
    """A side stream: what it computes is there for other streams when the device has been waited for, nan until then.

    Attributes:
        is_side: kernels are given to the side stream now.
        late: memory, and what it will hold.
    """

    def __init__(self) -> None:
        self.is_side = False
        self.late: list[tuple[Any, Any]] = []

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A kernel runs: on the side stream after all that was given to that."""
        if self.is_side:
            for place, values in self.late:
                place.copy_(values)
        yield
        if self.is_side:
            for place, values in self.late:
                values.copy_(place)
                place.fill_(float("nan"))

    def finish(self) -> None:
        """Everything is done."""
        for place, values in self.late:
            place.copy_(values)
        self.late.clear()


class Module:
    """What is called `torch.cuda` for CUDA."""

    current: Any = None  # the device that was made the current one

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """There are no random numbers on the device."""

    def device_count(self) -> int:
        return 1

    def synchronize(self) -> None:
        """Wait for all streams."""
        ran.append("synchronize")
        stream.finish()

    @contextmanager
    def device(self, which: Any) -> Iterator[None]:
        """Inside, it is the current device."""
        before, self.current = self.current, which
        try:
            yield
        finally:
            self.current = before


def on_host(t: Any) -> Any:
    """A CPU tensor in the same memory."""
    storage = t.untyped_storage()
    there = torch._C._construct_storage_from_data_pointer(storage.data_ptr(), torch.device("cpu"), storage.nbytes())
    return torch.empty(0, dtype=t.dtype).set_(there, t.storage_offset(), t.shape, t.stride())


def on_device(host: Any) -> Any:
    """A device tensor with a copy of the elements, of the same strides if these are dense."""
    return _moved(torch._C._acc.create_empty_tensor((0,), host.dtype), host)


def _moved(t: Any, host: Any) -> Any:
    """The device tensor, now with new memory that holds a copy of the elements."""
    copy = host.clone()
    memory.append(copy)
    if stream.is_side and copy.is_floating_point():
        stream.late.append((copy, host.clone()))
    storage = copy.untyped_storage()
    place = torch._C._construct_storage_from_data_pointer(storage.data_ptr(), torch.device(NAME, 0), storage.nbytes())
    return aten.set_.source_Storage_storage_offset.redispatch(CPU, t, place, 0, copy.shape, copy.stride())


stream, module = Stream(), Module()


def _is_ours(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == NAME


def _kernel(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Any op: computed on the host, in the memory of the device."""
    name = op._schema.name.removeprefix("aten::")
    if name in missing:
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the '{NAME}' backend.")
    ran.append(name)
    with stream.turn():
        return _computed(op, args, kwargs)


def _computed(op: Any, args: Any, kwargs: Any) -> Any:
    given: list[tuple[Any, Any]] = []

    def to_host(value: Any) -> Any:
        if _is_ours(value):
            given.append((value, on_host(value)))
            return given[-1][1]
        if isinstance(value, list | tuple):
            return type(value)(map(to_host, value))
        return torch.device("cpu") if isinstance(value, torch.device) else value

    def to_device(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            same = [ours for ours, host in given if host is value]  # changed in place
            return same[0] if same else on_device(value)
        return type(value)(map(to_device, value)) if isinstance(value, list | tuple) else value

    out = {a.name: kwargs[a.name] for a in op._schema.arguments if a.is_out}
    hosts = {key: to_host(v) for key, v in kwargs.items() if key not in out}
    if not out:
        return to_device(op(*map(to_host, args), **hosts))
    hosts |= {key: torch.empty(0, dtype=t.dtype) for key, t in out.items()}
    op(*map(to_host, args), **hosts)
    for key, t in out.items():
        on_host(t).copy_(hosts[key]) if t.shape == hosts[key].shape else _moved(t, hosts[key])
    return tuple(out.values()) if len(out) > 1 else next(iter(out.values()))


def _copy_from(source: Any, to: Any, non_blocking: bool = False) -> Any:
    """Between host and device, and on the device."""
    if _is_ours(source) and not _is_ours(to):
        copied.append(source.numel() * source.element_size())
    with stream.turn():
        (on_host(to) if _is_ours(to) else to).copy_(on_host(source) if _is_ours(source) else source)
    return to


def _item(t: Any) -> Any:
    copied.append(t.element_size())
    return on_host(t).item()


def _allocated(size: Any, *more: Any, dtype: Any = None, **_: Any) -> Any:
    host = torch.empty(size, dtype=dtype) if not more else torch.empty_strided(size, *more, dtype=dtype)
    return on_device(host)


def _in_the_same_memory(op: Any) -> Any:
    return lambda *args: op.redispatch(CPU, *args)


_setup_privateuseone_for_python_backend(NAME, backend_module=module)
everything = torch.library.Library("_", "IMPL")
everything.fallback(_kernel, "PrivateUse1")
kernels = torch.library.Library("aten", "IMPL")
kernels.impl("empty.memory_format", _allocated, "PrivateUse1")
kernels.impl("empty_strided", _allocated, "PrivateUse1")
kernels.impl("_copy_from", _copy_from, "PrivateUse1")
kernels.impl("_local_scalar_dense", _item, "PrivateUse1")
for view in VIEWS:
    kernels.impl(view, _in_the_same_memory(getattr(aten, view).default), "PrivateUse1")


@torch.library.impl(kernels, "convolution_overrideable", "PrivateUse1")
def _convolution(*args: Any) -> Any:
    return _kernel(aten.convolution.default, *args)


@torch.library.impl(kernels, "convolution_backward_overrideable", "PrivateUse1")
def _convolution_backward(grad: Any, input: Any, weight: Any, *args: Any) -> Any:
    return _kernel(aten.convolution_backward.default, grad, input, weight, [weight.shape[0]], *args)
