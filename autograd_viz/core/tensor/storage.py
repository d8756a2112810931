"""A state_dict (or any nested dictionary of tensors and plain values) as one .npz file, and back.

The file is NumPy's own archive: an array per tensor, and a JSON text that says how they hang together. Nothing in it can run
code when it is read, which is why pickles (.pt) are refused.
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
MOST_PARTS = 600_000  # brackets in it: two for a tensor in a dictionary


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
        ValueError: there are more parts than `load_state` would read.
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
    """How the value hangs together; its tensors go into `arrays`."""
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
    """Read what `state_bytes` made; a plain .npz of NumPy's comes back as a dictionary of tensors.

    Args:
        source: a path, or a file opened for reading bytes.

    Raises:
        CannotReadError: no such file, not a .npz, or one that is damaged or would unpack to more than it should (archive.py).
    """
    try:
        with opened(source) as archive:
            if STRUCTURE in archive.names:
                return _Structure(archive).read()
            return OrderedDict((name, _tensor(archive, name)) for name in archive.names)
    except Exception as error:  # zipfile, zlib, json and NumPy raise whatever they like of a damaged file
        reason = getattr(error, "strerror", None) or error
        raise CannotReadError(f"cannot read {str(source)!r} as .npz: {reason}") from error


def _tensor(archive: Archive, name: str) -> Tensor:
    array = archive.array(name)
    from_numpy_dtype(array.dtype)
    return Tensor(array)


class _Structure:
    """The JSON text of an archive and the arrays that it names, each once: what names one a million times is not ours."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.left = archive, {*archive.names} - {STRUCTURE}
        if archive.size(STRUCTURE) > MOST_STRUCTURE:
            raise ValueError(f"its structure has more than {MOST_STRUCTURE:,} bytes")

    def read(self) -> Any:
        """The whole."""
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
