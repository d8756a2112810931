"""The device. The CPU is the only one. Every function that takes a device in PyTorch takes it here too."""

from __future__ import annotations

from typing import Any

from .public import public

_KNOWN = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan",
    "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


@public("torch.device")
class device:  # noqa: N801 -- PyTorch's name
    """The name of a place where tensors live: ``device("cpu")``. Only the CPU can hold tensors."""

    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        name, _, number = str(type).partition(":")
        if name not in _KNOWN:
            raise RuntimeError(f"Expected one of {', '.join(_KNOWN)} device type at start of device string: {name}")
        self.type: str = name
        self.index: int | None = int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


CPU = device("cpu")


def check_device(wanted: Any) -> None:
    """Refuse every device but the CPU, as a PyTorch without CUDA does. None is the default device."""
    if wanted is None:
        return
    if isinstance(wanted, int):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    kind = device(wanted).type
    if kind == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    if kind != "cpu":
        raise RuntimeError(f"autograd_viz computes on the CPU only; there is no device {str(wanted)!r}")
