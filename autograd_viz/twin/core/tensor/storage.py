"""A tensor, a state_dict, or any nest of tensors and plain values as one archive, and back.

The file is NumPy's own .npz, under any name: an array per tensor, and a JSON text with the structure. Reading it cannot run
code. A pickle can, so pickles are refused. Each array is checked before it is unpacked.

# Note [What a .npz may unpack to]
`save` does not compress, and real numbers compress badly. A file of a few kilobytes that unpacks to gigabytes is an attack
on the memory. So a compressed file may unpack to at most `RATIO` times its size, plus `SMALL` bytes.
"""

from __future__ import annotations

import io
import json
import math
import os
import reprlib
import stat
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....errors import NO_FILES, CannotReadError
from ....runtime.files import write_file
from ..base.dtypes import BY_NAME, dtype, from_numpy_dtype
from .as_array import Array, Size
from .refusals import refuse_if
from .tensor import Tensor

STRUCTURE = "__structure__"
PLAIN = (str, int, float, bool, type(None))
# what an archive holds
State = Tensor | np.ndarray[Any, Any] | np.generic | dtype | dict[Any, Any] | list[Any] | tuple[Any, ...] | str | float | None
MOST_STRUCTURE = 8_000_000  # bytes of the JSON text
MOST_PARTS = 600_000  # brackets in it; a tensor in a dictionary has two
SUFFIX = ".npy"
RATIO, SMALL = 16, 64_000_000
MOST_ARRAYS = 50_000
MOST_AT_ONCE = 4_000_000  # bytes of one read. The zip's directory is one read, and takes 60 per array
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # NumPy writes these; another method may need any amount of memory
LARGEST_HEADER = 1 << 16  # bytes of an array's header, whose length is a 2-byte number
PICKLE = (
    "it is a pickle, as PyTorch writes it, which can run any code when it is read; "
    "in PyTorch write the state as np.savez('model.npz', **{name: t.numpy() for name, t in state.items()})"
)
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def save(obj: Any, f: Any) -> None:
    """``torch.save``: write nested dictionaries, lists, tensors, arrays and plain values to a path, or a file opened for bytes.

    Raises TypeError: `f` is neither, or a value is none that an archive holds; the message says where it is. Raises ValueError:
    there are more parts than `load` reads. Raises CannotWriteError: the file cannot be written.
    """
    if hasattr(f, "write"):
        f.write(state_bytes(obj))
    elif isinstance(f, str | os.PathLike):
        write_file(f, state_bytes(obj))
    else:
        swapped = "; the arguments are swapped" if isinstance(obj, str | os.PathLike) else ""
        raise TypeError(f"save(x, path) takes a path, got {type(f).__name__} ({f!r:.60}){swapped}")


def load(f: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """``torch.load``: read what `save` wrote, from a path or a file opened for reading bytes.

    NumPy's own .npz becomes a dictionary of tensors. There is one device, and no code in the files: the rest is ignored.
    Raises TypeError: `f` is neither. Raises CannotReadError: it is missing, damaged, no .npz, or would unpack to too much.
    """
    if not hasattr(f, "read") and not isinstance(f, str | os.PathLike):
        raise TypeError(f"load(path) takes a path or a file opened for reading, got {type(f).__name__} ({f!r:.60})")
    try:
        with opened(f) as archive:
            if STRUCTURE in archive.names:
                return _Structure(archive).read()
            return OrderedDict((name, _tensor(archive.array(name))) for name in archive.names)
    except Exception as error:  # for a damaged file, zipfile, zlib, json and NumPy raise many types
        reason = getattr(error, "strerror", None) or error
        raise CannotReadError(f"cannot read {str(f)!r} as .npz: {reason}") from error


def state_bytes(state: Any) -> bytes:
    """What `save` writes."""
    arrays: dict[str, Any] = {}
    text = json.dumps(_structure(state, arrays, "state")).encode()
    if len(arrays) > MOST_ARRAYS or len(text) > MOST_STRUCTURE or text.count(b"[") + text.count(b"{") > MOST_PARTS:
        most = f"{MOST_ARRAYS:,} tensors and {MOST_PARTS // 2:,} other values; make a tensor of each list of numbers"
        raise ValueError(f"the state is too much for a .npz, which holds {most}")
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays, **{STRUCTURE: np.frombuffer(text, np.uint8)})
    return file.getvalue()


def _structure(value: Any, arrays: dict[str, Any], where: str) -> Any:
    """The structure of the value as JSON data. Its tensors go into `arrays`."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        key = f"a{len(arrays)}"
        arrays[key] = value._data if isinstance(value, Tensor) else value
        if isinstance(value, Tensor):
            return {"leaf" if value.requires_grad else "tensor": key}
        return {"array" if isinstance(value, np.ndarray) else "scalar": key}
    if isinstance(value, dict):
        if bad := [k for k in value if not isinstance(k, PLAIN)]:
            raise TypeError(f"{where} has the key {bad[0]!r}; keys must be texts, numbers or None")
        pairs = [[k, _structure(v, arrays, f"{where}[{k!r}]")] for k, v in value.items()]
        return {"ordered" if isinstance(value, OrderedDict) else "dict": pairs}
    if isinstance(value, list | tuple):
        items = [_structure(v, arrays, f"{where}[{i}]") for i, v in enumerate(value)]
        return {"list" if isinstance(value, list) else "size" if isinstance(value, Size) else "tuple": items}
    if isinstance(value, dtype):
        return {"dtype": value.name}
    if isinstance(value, PLAIN):
        return {"value": value}
    what, advice = type(value).__name__, ""
    if type(value).__module__.partition(".")[0] == "torch":
        what, advice = f"PyTorch {what}", "; PyTorch's own values are for torch.save"
    elif hasattr(value, "state_dict"):
        advice = "; save its state: save(x.state_dict(), path)"
    raise TypeError(f"{where} is a {what}; a .npz holds tensors, numbers, texts, and dictionaries and lists of them{advice}")


def _tensor(array: Array) -> Tensor:
    from_numpy_dtype(array.dtype)
    return Tensor(array)


class _Structure:
    """The JSON text of an archive, and its arrays. The text may name each array once, because names cost no bytes."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.left = archive, {*archive.names} - {STRUCTURE}
        if archive.size(STRUCTURE) > MOST_STRUCTURE:
            raise ValueError(f"its structure has more than {MOST_STRUCTURE:,} bytes")

    def read(self) -> Any:
        text = self.archive.array(STRUCTURE).tobytes()
        if text.count(b"[") + text.count(b"{") > MOST_PARTS:
            raise ValueError(f"its structure has more than {MOST_PARTS:,} parts")
        return self._value(json.loads(text))

    def _array(self, name: str) -> Any:
        if name not in self.left:
            raise ValueError(f"its structure names {name!r:.60}, which is not there or is named already")
        self.left.remove(name)
        return self.archive.array(name)

    def _value(self, structure: Any) -> Any:
        match [*structure.items()] if isinstance(structure, dict) else None:
            case [(("tensor" | "leaf") as kind, str(name))]:
                found = _tensor(self._array(name))
                return found.requires_grad_() if kind == "leaf" else found
            case [(("array" | "scalar") as kind, str(name))]:
                array = self._array(name)
                return array[()] if kind == "scalar" else array
            case [(("dict" | "ordered") as kind, [*pairs])]:
                if bad := [k for k, _ in pairs if not isinstance(k, PLAIN)]:
                    raise ValueError(f"its structure has the key {reprlib.repr(bad[0])}")
                made = {k: self._value(v) for k, v in pairs}
                return OrderedDict(made) if kind == "ordered" else made
            case [(("list" | "tuple" | "size") as kind, [*items])]:
                return {"list": list, "tuple": tuple, "size": Size}[kind]([self._value(v) for v in items])
            case [("dtype", str(name))]:
                return BY_NAME[name]
            case [("value", value)] if isinstance(value, PLAIN):
                return value
        raise ValueError(f"its structure holds {reprlib.repr(structure)}, which is no part of a state")


class _Bounded:
    """A file with a limit on the size of one read, whatever sizes its contents claim."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.seek, self.tell, self.seekable, self.close = file.seek, file.tell, file.seekable, file.close

    def read(self, count: int = -1) -> bytes:
        """Read as a file does, up to the limit."""
        found: bytes = self.file.read(count if 0 <= count <= MOST_AT_ONCE else MOST_AT_ONCE + 1)
        if len(found) > MOST_AT_ONCE:
            raise ValueError("its directory is too large")
        return found


@contextmanager
def opened(source: Any) -> Iterator[Archive]:
    """The archive at a path or in a file. Raises OSError: no file that ends; ValueError, BadZipFile: no .npz, or a bomb."""
    if hasattr(source, "read"):
        here = source.tell()
        if source.read(1) == b"\x80":  # a pickle of protocol 2 or later begins with it
            raise ValueError(PICKLE)
        length = source.seek(0, os.SEEK_END)
        source.seek(here)
        with zipfile.ZipFile(_Bounded(source)) as zip:
            yield Archive(zip, length)
        return
    if kind := NO_FILES.get(stat.S_IFMT(os.stat(source).st_mode)):
        raise OSError(f"it is {kind}")
    with open(source, "rb") as file, opened(file) as archive:
        yield archive


class Archive:
    """The arrays of a .npz, by `names`."""

    def __init__(self, zip: zipfile.ZipFile, length: int) -> None:
        self._zip = zip
        self._entries = {info.filename.removesuffix(SUFFIX): info for info in zip.infolist()}
        self.names = tuple(self._entries)
        refuse_if(any(name.endswith("/data.pkl") for name in self.names), PICKLE, ValueError)
        for info in self._entries.values():
            if not info.filename.endswith(SUFFIX) or info.flag_bits & 1 or info.compress_type not in PACKINGS:
                raise ValueError(f"{info.filename!r:.60} in it is no array as NumPy writes them")
        if len(self.names) > MOST_ARRAYS + 1:
            raise ValueError(f"it holds {len(self.names):,} arrays, more than {MOST_ARRAYS:,}")
        size = sum(info.file_size for info in self._entries.values())
        refuse_if(size > RATIO * length + SMALL, lambda: f"it would unpack from {length:,} to {size:,} bytes", ValueError)

    def size(self, name: str) -> int:
        """The bytes of an array and its header."""
        return self._entries[name].file_size

    def array(self, name: str) -> Any:
        """One of the arrays. It must hold numbers, and be as large as its header says."""
        info = self._entries[name]
        with self._zip.open(info) as file:
            version = np.lib.format.read_magic(file)
            if version not in HEADERS:
                raise ValueError(f"{name!r:.60} in it is an array of another version: {version}")
            shape, _, dtype = HEADERS[version](file, max_header_size=LARGEST_HEADER)
            refuse_if(dtype.hasobject, lambda: f"{name!r:.60} in it holds Python objects, which are never read", ValueError)
            left, claimed = info.file_size - file.tell(), math.prod(shape) * dtype.itemsize
            if left != claimed or min(shape, default=0) < 0:
                raise ValueError(f"{name!r:.60} in it claims {claimed:,} bytes, and has {left:,}")
        with self._zip.open(info) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
