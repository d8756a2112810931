"""How a leaf is copied and pickled."""

from __future__ import annotations

from typing import Any

from .as_array import Array
from .tensor import Tensor


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Tensor.__deepcopy__, for leaves only."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
            "see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) not in memo:
        twin = type(self).__new__(type(self))
        Tensor.__init__(twin, self._data.copy())
        memo[id(self)] = twin
        twin._requires_grad = self._requires_grad
        twin.__dict__.update(self.__dict__)
        if self._grad is not None:
            twin._grad = Tensor(self._grad._data.copy())
    known: Tensor = memo[id(self)]
    return known


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """Tensor.__reduce_ex__: the parts of a pickle."""
    return _rebuilt, (type(self), self._data, self._requires_grad, dict(self.__dict__))


def _rebuilt(kind: type[Tensor], data: Array, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    """A leaf from its pickled parts."""
    twin = kind.__new__(kind)
    Tensor.__init__(twin, data)
    twin._requires_grad = requires_grad
    twin.__dict__.update(attributes)
    return twin
