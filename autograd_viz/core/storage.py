"""A state_dict (or any nested dictionary of tensors and plain values) as one .npz file, and back.

The file is NumPy's own archive: an array per tensor, and a JSON text that says how they hang together. Nothing in it can run
code when it is read, which is why pickles (.pt) are refused.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CannotReadError
from .tensor import Tensor

STRUCTURE = "__structure__"
PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt")
PLAIN = (str, int, float, bool, type(None))


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
    """
    arrays: dict[str, Any] = {}
    structure = _structure(state, arrays, "state")
    contents = {**arrays, STRUCTURE: np.frombuffer(json.dumps(structure).encode(), np.uint8)}
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
        CannotReadError: no such file, or not a .npz.
    """
    try:
        with np.load(source, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile, AttributeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CannotReadError(f"cannot read {str(source)!r} as .npz: {reason}") from error
    if STRUCTURE not in arrays:
        return OrderedDict((name, Tensor(a)) for name, a in arrays.items())
    return _value(json.loads(arrays[STRUCTURE].tobytes()), arrays)


def _value(structure: dict[str, Any], arrays: dict[str, Any]) -> Any:
    ((kind, content),) = structure.items()
    if kind == "tensor":
        return Tensor(arrays[content])
    if kind == "dict":
        return OrderedDict((k, _value(v, arrays)) for k, v in content)
    if kind in ("list", "tuple"):
        items = [_value(v, arrays) for v in content]
        return items if kind == "list" else tuple(items)
    return content
