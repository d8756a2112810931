"""The small namespaces of PyTorch: namespaces of ops, and namespaces of missing devices."""

from __future__ import annotations

import functools
import importlib
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

from . import amp
from .core.base.missing import module_getattr
from .core.base.public import NAMESPACES, names_of
from .core.tensor.creation import legacy_types

__all__ = [  # what stands under the same name in torch
    "accelerator", "backends", "cuda", "fft", "functional", "linalg", "multiprocessing", "random", "special",
    "version",
]  # fmt: skip


def module(name: str, what: str, **members: Any) -> ModuleType:
    """A module of this package with `members`. Other names of PyTorch raise an error that suggests an alternative."""
    made = ModuleType(f"{__package__}.{name}", what)
    made.__path__ = []  # so that Python looks inside it for the names of its files
    made.__dict__.update(members, __getattr__=module_getattr(f"torch.{name}", made.__dict__))
    sys.modules[made.__name__] = made  # for `import autograd_viz.linalg`
    return made


def _of_ops(name: str, what: str) -> ModuleType:
    names = names_of(name)
    return module(name, what, **NAMESPACES[name], __all__=names, __dir__=lambda: names)


def _always(answer: Any) -> Callable[..., Any]:
    """A function of anything, which has one answer."""
    return lambda *_, **__: answer


_no, _none, _nothing = map(_always, (False, 0, None))


def _absent(name: str, **settings: Any) -> ModuleType:
    what = "What is not here, and settings without effect."
    return module(f"backends.{name}", what, is_available=_no, is_built=_no, **settings)


fft = _of_ops("fft", "Discrete Fourier transforms, by the names of torch.fft.")
linalg = _of_ops("linalg", "Decompositions, solvers and norms of matrices, by the names of torch.linalg.")
special = _of_ops("special", "Special functions, by the names of torch.special.")
accelerator = module(
    "accelerator", "There is no accelerator: enough of torch.accelerator for a program to find that out.",
    is_available=_no, current_accelerator=_nothing, device_count=_none,
)  # fmt: skip


class Event:
    """A moment on the CPU, which waits for nothing."""

    def __init__(self, enable_timing: bool = False, **options: Any) -> None:
        self._at = 0.0

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self._at = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to a later one."""
        return (end_event._at - self._at) * 1000.0

    def query(self) -> bool:
        """True: all before it is done."""
        return True

    synchronize = wait = _nothing


def _not_compiled(*_: object, **__: object) -> NoReturn:
    """Raise, as a PyTorch without CUDA does: there is no device to ask."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def _named(names: str, function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return dict.fromkeys(names.split(), function)


@contextmanager
def _no_stream(*_: object, **__: object) -> Iterator[None]:
    """A block without a stream or device of its own."""
    yield


cuda = module(
    "cuda", "There is no GPU here: enough of torch.cuda for a program to find that out, and counters of 0.",
    Event=Event, OutOfMemoryError=type("OutOfMemoryError", (RuntimeError,), {"__module__": "torch"}), get_arch_list=list,
    get_rng_state_all=list, memory_stats=OrderedDict, device=_no_stream, stream=_no_stream,
    **_named("is_available is_initialized is_bf16_supported is_tf32_supported is_current_stream_capturing", _no),
    **_named("device_count memory_allocated max_memory_allocated memory_reserved max_memory_reserved", _none),
    **_named("memory_cached max_memory_cached utilization", _none),
    **_named("manual_seed manual_seed_all seed seed_all synchronize empty_cache ipc_collect set_rng_state_all", _nothing),
    **_named("reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached", _nothing),
    **_named("current_device set_device get_device_name get_device_properties get_device_capability init", _not_compiled),
    **_named("initial_seed get_rng_state mem_get_info current_stream default_stream Stream memory_summary", _not_compiled),
    **legacy_types("torch.cuda"),
)  # fmt: skip


def _cuda_autocast(enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> amp.autocast:
    return amp.autocast("cuda", dtype, enabled, cache_enabled)


cuda.__dict__["amp"] = module(
    "cuda.amp", "Mixed precision by its names before torch.amp.", autocast=_cuda_autocast,
    GradScaler=functools.partial(amp.GradScaler, "cuda"), custom_fwd=amp.custom_fwd, custom_bwd=amp.custom_bwd,
)  # fmt: skip
backends = module(
    "backends", "What computes: NumPy. Enough of torch.backends for a program to find that out, and to set what has no effect.",
    cudnn=_absent(
        "cudnn", enabled=True, benchmark=False, deterministic=False, benchmark_limit=None, allow_tf32=True, version=_nothing,
        flags=_no_stream,
    ),
    cuda=_absent("cuda", matmul=SimpleNamespace(allow_tf32=False), **_named("enable_flash_sdp enable_math_sdp", _nothing)),
    mps=_absent("mps"), mkl=_absent("mkl"), mkldnn=_absent("mkldnn", enabled=False), openmp=_absent("openmp"),
)  # fmt: skip
version = module("version", "The versions of what computes.", cuda=None, hip=None, git_version="")
functional = module("functional", "Ops of torch, by the names of torch.functional.", **NAMESPACES["torch"])
functional.__dict__["__getattr__"] = module_getattr("torch", functional.__dict__)


@contextmanager
def _fork_rng(devices: Any = None, enabled: bool = True, **options: Any) -> Iterator[None]:
    """A block whose random numbers leave those after it as they were."""
    state = random.get_rng_state()
    yield
    if enabled:
        random.set_rng_state(state)


_SEEDS = ("manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state")
random = module("random", "The random numbers.", fork_rng=_fork_rng, **{n: NAMESPACES["torch"][n] for n in _SEEDS})


def _spawn(
    fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> Any:
    """Run ``fn(i, *args)`` in `nprocs` processes. Raises RuntimeError: one of them failed."""
    context = importlib.import_module("multiprocessing").get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for process in processes:
        process.join()
    for i, process in enumerate(processes):
        if process.exitcode:
            raise RuntimeError(f"process {i} terminated with exit code {process.exitcode}")
    return None


multiprocessing = module(
    "multiprocessing", "Python's own multiprocessing. It copies tensors into another process.", spawn=_spawn
)
multiprocessing.__dict__["__getattr__"] = lambda name: getattr(importlib.import_module("multiprocessing"), name)
