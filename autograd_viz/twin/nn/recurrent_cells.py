"""One step of a recurrent layer, with its own weights."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor, refuse_if
from ..core.tensor.factories import zeros
from .linear import parameter
from .module import Module
from .recurrent import STEPS, RNNBase

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """One step, with its own weights."""

    step = "RNN_TANH"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = parameter(rows, input_size, dtype=dtype, device=device)
        self.weight_hh = parameter(rows, hidden_size, dtype=dtype)
        self.register_parameter("bias_ih", parameter(rows, dtype=dtype) if bias else None)
        self.register_parameter("bias_hh", parameter(rows, dtype=dtype) if bias else None)
        self.reset_parameters()

    reset_parameters: Any = RNNBase.reset_parameters

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state. Raises ValueError: the input does not have 1 or 2 dimensions."""
        if input.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        batched, pair = input.dim() == 2, self.step == "LSTM"
        x: Any = input if batched else input.unsqueeze(0)
        if hx is None:
            state: tuple[Any, ...] = (zeros(x.shape[0], self.hidden_size, dtype=x.dtype),) * (2 if pair else 1)
        else:
            state = tuple(s if batched else s.unsqueeze(0) for s in (hx if pair else (hx,)))
        new = STEPS[self.step][1](x, state, (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh))
        new = new if batched else tuple(s.squeeze(0) for s in new)
        return new if pair else new[0]

    def extra_repr(self) -> str:
        """The sizes, and the options that differ from their defaults."""
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias is True else f", bias={self.bias}")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """One step of RNN."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity, self.step = nonlinearity, f"RNN_{nonlinearity.upper()}"
        refuse_if(self.step not in STEPS, lambda: f"Unknown nonlinearity: {nonlinearity}")


class LSTMCell(RNNCellBase):
    """One step of LSTM. The state is (h, c)."""

    step = "LSTM"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)


class GRUCell(RNNCellBase):
    """One step of GRU."""

    step = "GRU"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)
