"""Lazy layers. The first input decides their sizes, and turns them into ordinary layers."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Size, Tensor
from ..core.tensor.creation import tensor
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .module import Module
from .normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .parameter import Parameter

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
    "LazyLinear", "UninitializedParameter",
]  # fmt: skip


class UninitializedParameter(Parameter):
    """A parameter without a shape yet."""

    def __init__(self) -> None:
        super().__init__(tensor([]))

    @property
    def shape(self) -> Size:
        """The shape is not known yet. Raises RuntimeError: always."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` to "
            "initialize the parameters before accessing their attributes."
        )

    def become(self, values: Parameter) -> None:
        """Turn into an ordinary parameter. It stays the same object, so an optimizer that holds it keeps it."""
        self._data = values._data
        self.__class__ = Parameter  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "<UninitializedParameter>"


class Lazy(Module):
    """The layer `full` without its first argument."""

    full: type[Module]
    size = "in_channels"  # the name of the first argument
    usual: dict[str, Any] = {}  # defaults that differ from those of `full`

    def __init__(self, *args: Any, **options: Any) -> None:
        options = {**self.usual, **options}
        super().__init__(0, *args, **options)  # type: ignore[call-arg]
        self._arguments = (args, options)
        for name, parameter in self._parameters.items():
            self._parameters[name] = None if parameter is None else UninitializedParameter()

    def reset_parameters(self) -> None:
        """There is nothing to initialize yet."""

    def __call__(self, input: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Become the full layer, and run it."""
        self._complete(int(input.shape[self._axis(input)]))
        return self(input, *args, **kwargs)

    def _axis(self, input: Tensor) -> int:
        """The dimension of the input whose length is read."""
        n = getattr(self, "_n", 0)  # of a convolution: the spatial dimensions, after the channels
        return -1 - n if n else 1

    def _complete(self, length: int) -> None:
        args, options = self.__dict__.pop("_arguments")
        made: Any = self.full(length, *args, **options)  # type: ignore[call-arg]
        for name, values in made._parameters.items():
            if values is not None:
                self._parameters[name].become(values)
        self._buffers.update(made._buffers)
        setattr(self, self.size, length)
        self.__class__ = self.full  # type: ignore[assignment]


class LazyLinear(Lazy, Linear):
    """Linear that takes in_features from its first input."""

    full, size = Linear, "in_features"

    def _axis(self, input: Tensor) -> int:
        return -1


def _lazy(full: type[Module], size: str, **usual: Any) -> Any:
    """The lazy form of a layer."""
    doc = f"{full.__name__} that takes {size} from its first input."
    members = {"full": full, "size": size, "usual": usual, "__doc__": doc, "__module__": __name__}
    return type(f"Lazy{full.__name__}", (Lazy, full), members)


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(c, "in_channels") for c in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(c, "in_channels") for c in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (_lazy(c, "num_features") for c in (BatchNorm1d, BatchNorm2d, BatchNorm3d))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(c, "num_features", affine=True, track_running_stats=True) for c in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)
