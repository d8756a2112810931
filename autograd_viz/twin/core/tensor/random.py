"""PyTorch's own random numbers: a Mersenne Twister, and how its 32-bit words become uniform, normal and whole numbers.

With the same seed the values equal PyTorch's on the CPU, up to rounding. This file does not use tensors.

# Note [How a word becomes a number]
A float32 in [0, 1) is the low 24 bits of one word, a float64 the low 53 bits of two.
Sixteen or more normal numbers are made in blocks of 16, by Box and Muller's method. The first 8 uniform numbers of a block
give the radii, the last 8 the angles. An incomplete last block is drawn again, over the last 16 places.
Fewer than 16 are made in pairs in double precision. The generator keeps the second of a pair for the next call.
"""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from .as_array import Array
from .tensor import Tensor

_DEFAULT_SEED = 67280421310721  # PyTorch's seed of a Generator without one
_WORDS = 624  # length of the state of a Mersenne Twister


class Generator:
    """A separate stream of random numbers, for the `generator=` of the random functions."""

    def __init__(self, device: Any = "cpu") -> None:
        self._twister, self._seed = np.random.MT19937(), 0
        self._waiting: float | None = None  # the second normal number of a pair
        self.manual_seed(_DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream. Equal seeds give equal numbers. Raises RuntimeError: the seed does not fit in 64 bits."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError("Overflow when unpacking long long")
        self._seed, self._waiting = seed % 2**64, None
        self._twister._legacy_seeding(self._seed & 0xFFFFFFFF)
        return self

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    def seed(self) -> int:
        """Restart from an unpredictable seed, and return it."""
        self.manual_seed(secrets.randbits(64))
        return self._seed

    def get_state(self) -> Tensor:
        """The state of the stream, as bytes."""
        state: Any = self._twister.state["state"]
        waiting = np.array([self._waiting is not None, self._waiting or 0.0])
        parts = (np.array([self._seed, state["pos"]], np.uint64), waiting, state["key"].astype(np.uint32))
        return Tensor(np.frombuffer(b"".join(p.tobytes() for p in parts), np.uint8).copy())

    def set_state(self, state: Tensor) -> Generator:
        """Continue from `state`. Raises RuntimeError: `state` does not come from `get_state`."""
        raw = state._data.tobytes()
        if len(raw) != 32 + 4 * _WORDS:
            raise RuntimeError("RNG state is wrong size")
        seed, place = np.frombuffer(raw[:16], np.uint64)
        waits, waiting = np.frombuffer(raw[16:32])
        self._seed, self._waiting = int(seed), float(waiting) if waits else None
        key = np.frombuffer(raw[32:], np.uint32)
        self._twister.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": int(place)}}
        return self

    def words(self, n: int) -> Array:
        """The next `n` 32-bit words."""
        return np.asarray(self._twister.random_raw(n), np.uint64)

    def double_words(self, n: int) -> Array:
        """The next `n` 64-bit words, each of two 32-bit words, the first one high."""
        pairs = self.words(2 * n).reshape(n, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def doubles(self, n: int) -> Array:
        """Uniform float64 numbers in [0, 1)."""
        return (self.double_words(n) & np.uint64(2**53 - 1)) * 2.0**-53

    def uniform(self, n: int, dtype: np.dtype[Any], low: float = 0.0, high: float = 1.0) -> Array:
        """Uniform numbers in [low, high); both parts of complex ones."""
        if dtype.kind == "c":
            return self.uniform(2 * n, np.empty(0, dtype).real.dtype, low, high).view(dtype)
        if dtype == np.float64:
            return self.doubles(n) * (high - low) + low
        unit = (self.words(n) & np.uint64(2**24 - 1)) * 2.0**-24  # scaled and shifted with one rounding, as the hardware does
        return (unit * float(np.float32(high - low)) + float(np.float32(low))).astype(np.float32).astype(dtype, copy=False)

    def normal(self, n: int, dtype: np.dtype[Any], mean: float = 0.0, std: float = 1.0, blocks: bool = True) -> Array:
        """Normal numbers. Without `blocks` all are made in pairs. Both parts of complex ones are."""
        if dtype.kind == "c":
            return self.normal(2 * n, np.empty(0, dtype).real.dtype, mean, std / np.sqrt(2), blocks).view(dtype)
        if n < 16 or not blocks:
            return (np.array([self._one_normal() for _ in range(n)]) * std + mean).astype(dtype)
        inner, whole = np.dtype(np.float64 if dtype == np.float64 else np.float32), n - n % 16
        drawn = self.uniform(whole if dtype == np.float16 else n, inner)  # float16 is made in blocks
        out = np.empty(n, inner)
        out[:whole] = _normal_blocks(drawn[:whole])
        if whole != n:
            out[-16:] = _normal_blocks(self.uniform(16, inner))
        return (out * inner.type(std) + inner.type(mean)).astype(dtype)

    def _one_normal(self) -> float:
        """A normal number in double precision. Every second one comes from the last pair."""
        if self._waiting is not None:
            value, self._waiting = self._waiting, None
            return value
        angle, radius = self.doubles(2)
        length = np.sqrt(-2.0 * np.log1p(-radius))
        self._waiting = float(length * np.sin(2.0 * np.pi * angle))
        return float(length * np.cos(2.0 * np.pi * angle))

    def integers(self, n: int, low: int, high: int) -> Array:
        """Whole numbers from [low, high)."""
        span = high - low
        return ((self.double_words(n) if span >= 2**28 else self.words(n)) % np.uint64(span)).astype(np.int64) + low

    def permutation(self, n: int) -> Array:
        """The numbers below `n` in random order: each place is swapped with a random later one, or itself."""
        order = list(range(n))
        for i, word in enumerate(self.words(n - 1).tolist() if n > 1 else ()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        return np.array(order, np.int64)

    def exponential(self, n: int, rate: float = 1.0) -> Array:
        """Exponential numbers in double precision."""
        return -np.log1p(-self.doubles(n)) / rate


def _normal_blocks(uniform: Array) -> Array:
    blocks = uniform.reshape(-1, 2, 8)
    length = np.sqrt(-2.0 * np.log(1.0 - blocks[:, 0]))
    angle = uniform.dtype.type(2.0 * np.pi) * blocks[:, 1]
    return np.stack([length * np.cos(angle), length * np.sin(angle)], 1).reshape(-1)


def memory_order(array: Array) -> list[int]:
    """The dimensions of an array, from the largest stride to the smallest."""
    dims = range(array.ndim)
    expanded = any(step == 0 and length > 1 for step, length in zip(array.strides, array.shape, strict=True))
    if array.flags.c_contiguous or expanded:
        return list(dims)
    return sorted(dims, key=lambda d: -abs(array.strides[d]) if array.shape[d] > 1 else 0)


def laid_out(drawn: Array, like: Array) -> Array:
    """Random numbers in the shape of `like`, filled in the memory order of `like`."""
    order = memory_order(like)
    return drawn.reshape([like.shape[d] for d in order]).transpose(np.argsort(order))


default_generator = Generator()
default_generator.seed()


def chosen(generator: Generator | None) -> Generator:
    """The given generator, or the global one."""
    return default_generator if generator is None else generator
