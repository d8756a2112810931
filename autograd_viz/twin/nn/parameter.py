"""Parameter: a tensor that a Module registers when it is assigned as an attribute."""

from __future__ import annotations

from typing import Any

from ..core.base.provenance import Call, callers_place
from ..core.tensor import Tensor
from ..core.tensor.creation import leaf, tensor

__all__ = ["Buffer", "Parameter"]


class Parameter(Tensor):
    """A leaf that requires grad, unless it is not trained. It shares the memory of `data`; default: empty."""

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        data = tensor([]) if data is None else data
        if not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
        if requires_grad and data._data.dtype.kind not in "fc":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        super().__init__(data._data)
        made_by = data._made_by  # of a recorded op that is its node, which leads to another graph
        self._made_by = made_by if type(made_by) is Call else Call("Parameter", (), None, callers_place())
        self._requires_grad = requires_grad

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        copied = memo.get(id(self))
        if copied is None:
            copied = memo[id(self)] = type(self)(leaf("Parameter", self._data.copy()), self._requires_grad)
        return copied


class Buffer(Tensor):
    """A tensor of a Module's state that is not trained, with the memory of `data`; in `state_dict` only if persistent."""

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        super().__init__((tensor([]) if data is None else data)._data)
        self.persistent = persistent


def kind_of(value: Any) -> str:
    """The type of a refused value, as PyTorch's messages write it."""
    return f"torch.{value.dtype.legacy}Tensor" if type(value) is Tensor else type(value).__name__
