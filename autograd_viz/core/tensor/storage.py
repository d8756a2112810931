"""A state_dict, or any nested dictionary of tensors and plain values, as one .npz file, and back.

The file is NumPy's own archive: an array per tensor, and a JSON text with the structure. Reading it cannot run code. A pickle
(.pt) can, so pickles are refused.
"""

from __future__ import annotations

import io
import json
import os
import reprlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import CannotReadError
from ..base.dtypes import from_numpy_dtype
from .archive import MOST_ARRAYS, Archive, opened
from .tensor import Tensor

STRUCTURE = "__structure__"
PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt")
PLAIN = (str, int, float, bool, type(None))
MOST_STRUCTURE = 8_000_000  # bytes of the JSON text
MOST_PARTS = 600_000  # brackets in it; a tensor in a dictionary has two


def refuse_pickle(path: Any) -> None:
    """Say why .pt files are not read or written.

    Raises:
        CannotReadError: the suffix is that of a pickle.
    """
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix in PICKLES:
        raise CannotReadError(
            f"{os.fspath(path)!r}: {suffix} files are Python pickles, which can run any code when they are read; autograd_viz "
            "never reads or writes them. Save the state_dict as .npz: save(model.state_dict(), 'model.npz')"
        )


def state_bytes(state: Any) -> bytes:
    """Nested dictionaries, lists, tensors and plain values as the bytes of a .npz.

    Raises:
        TypeError: a value is none of these; the message says where it is.
        ValueError: there are more parts than `load_state` reads.
    """
    arrays: dict[str, Any] = {}
    structure = _structure(state, arrays, "state")
    text = json.dumps(structure).encode()
    if len(arrays) > MOST_ARRAYS or len(text) > MOST_STRUCTURE or text.count(b"[") + text.count(b"{") > MOST_PARTS:
        raise ValueError(
            f"the state is too much for a .npz, which holds {MOST_ARRAYS:,} tensors and {MOST_PARTS // 2:,} other values; "
            "make a tensor of each list of numbers"
        )
    contents = {**arrays, STRUCTURE: np.frombuffer(text, np.uint8)}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **contents)
    return file.getvalue()


def _structure(value: Any, arrays: dict[str, Any], where: str) -> Any:
    """The structure of the value as JSON data. Its tensors go into `arrays`."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        key = f"a{len(arrays)}"
        arrays[key] = value._data if isinstance(value, Tensor) else value
        return {"tensor": key}
    if isinstance(value, dict):
        pairs = [[_key(k, where), _structure(v, arrays, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"dict": pairs}
    if isinstance(value, list | tuple):
        items = [_structure(v, arrays, f"{where}[{i}]") for i, v in enumerate(value)]
        return {"list" if isinstance(value, list) else "tuple": items}
    if isinstance(value, PLAIN):
        return {"value": value}
    raise TypeError(
        f"{where} is a {type(value).__name__}; a .npz holds tensors, numbers, texts, and dictionaries and lists of them"
    )


def _key(key: Any, where: str) -> Any:
    if not isinstance(key, str | int):
        raise TypeError(f"{where} has the key {key!r}; keys must be texts or whole numbers")
    return key


def load_state(source: Any) -> Any:
    """Read what `state_bytes` wrote. A plain .npz of NumPy becomes a dictionary of tensors.

    Args:
        source: a path, or a file opened for reading bytes.

    Raises:
        CannotReadError: the file is missing, damaged, not a .npz, or would unpack to too much (archive.py).
    """
    try:
        with opened(source) as archive:
            if STRUCTURE in archive.names:
                return _Structure(archive).read()
            return OrderedDict((name, _tensor(archive, name)) for name in archive.names)
    except Exception as error:  # for a damaged file, zipfile, zlib, json and NumPy raise many types
        reason = getattr(error, "strerror", None) or error
        raise CannotReadError(f"cannot read {str(source)!r} as .npz: {reason}") from error


def _tensor(archive: Archive, name: str) -> Tensor:
    array = archive.array(name)
    from_numpy_dtype(array.dtype)
    return Tensor(array)


class _Structure:
    """The JSON text of an archive, and its arrays. The text may name each array once, because names cost no bytes."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.left = archive, {*archive.names} - {STRUCTURE}
        if archive.size(STRUCTURE) > MOST_STRUCTURE:
            raise ValueError(f"its structure has more than {MOST_STRUCTURE:,} bytes")

    def read(self) -> Any:
        """The value that the structure describes."""
        text = self.archive.array(STRUCTURE).tobytes()
        if text.count(b"[") + text.count(b"{") > MOST_PARTS:
            raise ValueError(f"its structure has more than {MOST_PARTS:,} parts")
        return self._value(json.loads(text))

    def _value(self, structure: Any) -> Any:
        match structure:
            case {"tensor": str(name)} if len(structure) == 1:
                if name not in self.left:
                    raise ValueError(f"its structure names {name!r:.60}, which is not there or is named already")
                self.left.remove(name)
                return _tensor(self.archive, name)
            case {"dict": [*pairs]} if len(structure) == 1:
                return OrderedDict((_key_read(k), self._value(v)) for k, v in pairs)
            case {"list": [*items]} if len(structure) == 1:
                return [self._value(v) for v in items]
            case {"tuple": [*items]} if len(structure) == 1:
                return tuple([self._value(v) for v in items])
            case {"value": value} if len(structure) == 1 and isinstance(value, PLAIN):
                return value
        raise ValueError(f"its structure holds {reprlib.repr(structure)}, which is no part of a state")


def _key_read(key: Any) -> Any:
    if not isinstance(key, str | int):
        raise ValueError(f"its structure has the key {reprlib.repr(key)}")
    return key
