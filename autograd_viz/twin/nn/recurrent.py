"""Recurrent layers: a loop of steps along a sequence, each of which passes its state to the next; and cells, for one step.

PyTorch runs the same equations in one fused op: values and gradients are equal, but its graph is shorter.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ..core.ops.shape.joining import cat, stack
from ..core.tensor import Tensor, refuse_if, zeros
from . import functional, init
from .linear import parameter, unusual
from .module import Module
from .utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

Weights = tuple[Any, Any, Any, Any]  # of the input, of the state, and their biases


def _lstm_step(x: Any, state: tuple[Any, ...], w: Weights) -> tuple[Any, ...]:
    """c' = f c + i g and h' = o tanh(c'). Gates i, f, o and candidate g come from W x + U h."""
    i, f, g, o = (functional.linear(x, w[0], w[2]) + functional.linear(state[0], w[1], w[3])).chunk(4, 1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def _gru_step(x: Any, state: tuple[Any, ...], w: Weights) -> tuple[Any, ...]:
    """h' = n + z (h - n), with gates r, z and candidate n = tanh(W x + r U h)."""
    xr, xz, xn = functional.linear(x, w[0], w[2]).chunk(3, 1)
    hr, hz, hn = functional.linear(state[0], w[1], w[3]).chunk(3, 1)
    r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
    n = (xn + r * hn).tanh()
    return (n + z * (state[0] - n),)


STEPS: dict[str, tuple[int, Callable[..., tuple[Any, ...]]]] = {  # gates, and the step: h' = tanh(W x + U h), or relu
    "RNN_TANH": (1, lambda x, h, w: ((functional.linear(x, w[0], w[2]) + functional.linear(h[0], w[1], w[3])).tanh(),)),
    "RNN_RELU": (1, lambda x, h, w: ((functional.linear(x, w[0], w[2]) + functional.linear(h[0], w[1], w[3])).relu(),)),
    "LSTM": (4, _lstm_step), "GRU": (3, _gru_step),
}  # fmt: skip


class RNNBase(Module):
    """A loop of steps over a sequence, in layers, each of which reads the outputs of the one below.

    `input_size` is the length of x, `hidden_size` that of h, which an LSTM may project to `proj_size`. Sequences are (time,
    batch, features), or with `batch_first` (batch, time, features). A `bidirectional` layer has a second loop from the end.
    `dropout` is between the layers.
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if isinstance(dropout, bool) or not isinstance(dropout, int | float) or not 0 <= dropout <= 1:
            said = "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            raise ValueError(said)
        for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
            if not isinstance(value, int):
                raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        refuse_if(hidden_size <= 0, "hidden_size must be greater than zero", ValueError)
        refuse_if(num_layers <= 0, "num_layers must be greater than zero", ValueError)
        refuse_if(proj_size and mode != "LSTM", "proj_size argument is only supported for LSTM, not RNN or GRU", ValueError)
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={num_layers}", stacklevel=3,
            )  # fmt: skip
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._make_weights(device, dtype)
        self.reset_parameters()

    def _make_weights(self, device: Any, dtype: Any) -> None:
        gates, directions = STEPS[self.mode][0], 2 if self.bidirectional else 1
        rows, state = gates * self.hidden_size, self.proj_size or self.hidden_size
        for layer in range(self.num_layers):
            for end in ("", "_reverse")[:directions]:
                width = self.input_size if layer == 0 else state * directions
                sizes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
                sizes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if self.bias else {}
                sizes |= {"weight_hr": (self.proj_size, self.hidden_size)} if self.proj_size else {}
                for name, size in sizes.items():
                    setattr(self, f"{name}_l{layer}{end}", parameter(*size, dtype=dtype, device=device))

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """No effect: PyTorch uses it to place weights in one block of GPU memory."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, one list per layer and direction."""
        ends = [f"_l{n}{e}" for n in range(self.num_layers) for e in ("", "_reverse")[: 1 + self.bidirectional]]
        return [[p for n, p in self._parameters.items() if n.partition("_l")[1] + n.partition("_l")[2] == e] for e in ends]

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """All outputs of the last layer, and the last state of each layer. A packed input gives packed outputs.

        Raises ValueError: not 2 or 3 dimensions. Raises RuntimeError: the last length is not input_size.
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.dim() not in (2, 3):
            name = self.mode.partition("_")[0]
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        self._check_width(input)
        batched = input.dim() == 3
        x: Any = input if batched else input.unsqueeze(1)
        x = x.transpose(0, 1) if batched and self.batch_first else x
        output, last = self._layers(x, self._states(x, x.shape[1], hx, batched))
        output = output.transpose(0, 1) if batched and self.batch_first else output
        if not batched:
            output, last = output.squeeze(1), tuple(s.squeeze(1) for s in last)
        return output, last if self.mode == "LSTM" else last[0]

    def _check_width(self, input: Tensor) -> None:
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}")

    def _packed(self, input: PackedSequence, hx: Any) -> Any:
        """Sequences of different lengths: a state stays as it is when its sequence has ended."""
        self._check_width(input.data)
        sizes, order, undo = input.batch_sizes.tolist(), input.sorted_indices, input.unsorted_indices
        states = self._states(input.data, sizes[0], hx, True)
        if hx is not None and order is not None:
            states = tuple(s.index_select(1, order) for s in states)
        output, last = self._layers(input.data, states, sizes)
        if undo is not None:
            last = tuple(s.index_select(1, undo) for s in last)
        return input._replace(data=output), last if self.mode == "LSTM" else last[0]

    def _states(self, x: Any, batch: int, hx: Any, batched: bool) -> tuple[Any, ...]:
        """The initial state, by default zeros: (h,) or (h, c), each (layers * directions, batch, features)."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        sizes, is_lstm = [(count, batch, self.proj_size or self.hidden_size)], self.mode == "LSTM"
        sizes += [(count, batch, self.hidden_size)] * is_lstm
        if hx is None:
            return tuple(zeros(*s, dtype=x.dtype) for s in sizes)
        given = tuple(s if batched else s.unsqueeze(1) for s in (hx if is_lstm else (hx,)))
        for i, (s, size) in enumerate(zip(given, sizes, strict=False)):
            if tuple(s.shape) != size:
                raise RuntimeError(f"Expected hidden{f'[{i}]' * is_lstm} size {size}, got {list(s.shape)}")
        return given

    def _layers(self, x: Any, states: tuple[Any, ...], sizes: list[int] | None = None) -> tuple[Any, tuple[Any, ...]]:
        """Run layer after layer; x is (time, batch, features), or packed by `sizes`."""
        directions, last = 2 if self.bidirectional else 1, []
        for layer in range(self.num_layers):
            outputs, moments = [], x.unbind(0) if sizes is None else x.split(sizes)
            for d in range(directions):
                place = layer * directions + d
                begin, end = tuple(s[place] for s in states), f"_l{layer}" + "_reverse" * d
                out, state = self._loop(moments, begin, end, reverse=d == 1)
                outputs.append(stack(out, 0) if sizes is None else cat(out))
                last.append(state)
            x = outputs[0] if directions == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, self.training)
        return x, tuple(stack([state[k] for state in last], 0) for k in range(len(states)))

    def _loop(self, moments: Any, begin: tuple[Any, ...], end: str, reverse: bool) -> tuple[list[Any], tuple[Any, ...]]:
        """One layer in one direction: one step per time, of the sequences that have an element then (the first ones)."""
        step, names = STEPS[self.mode][1], ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = tuple(getattr(self, name + end, None) for name in names)
        state, ended = begin, list[tuple[Any, ...]]()
        outputs: list[Any] = []
        for moment in reversed(moments) if reverse else moments:
            count, before = moment.shape[0], state[0].shape[0]
            if count > before or (count < before and not outputs):  # backwards, longer sequences come in later
                state = tuple(cat([s, b[before:count]]) if outputs else b[:count] for s, b in zip(state, begin, strict=True))
            elif count < before:
                ended.append(tuple(s[count:] for s in state))
                state = tuple(s[:count] for s in state)
            state = step(moment, state, weights)
            if self.proj_size:
                state = (functional.linear(state[0], getattr(self, f"weight_hr{end}"), None), *state[1:])
            outputs.append(state[0])
        if ended:
            state = tuple(cat([s, *late]) for s, *late in zip(state, *reversed(ended), strict=True))
        return outputs[::-1] if reverse else outputs, state

    def extra_repr(self) -> str:
        """The sizes, and the options that differ from their defaults."""
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        return f"{self.input_size}, {self.hidden_size}{unusual(self, usual)}"


class RNN(RNNBase):
    """h' = tanh(W x + U h) (or relu) at each step."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device=device, dtype=dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A state with gates that forget, add and output."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        )


class GRU(RNNBase):
    """A state with gates that reset and update it."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device=device, dtype=dtype
        )


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
