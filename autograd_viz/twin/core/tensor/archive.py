"""A .npz: a zip of arrays. Each array is checked before it is unpacked, so that it takes no more memory than it claims.

# Note [What a .npz may unpack to]
`save` does not compress, and real numbers compress badly. A file of a few kilobytes that unpacks to gigabytes is an attack
on the memory. So a compressed file may unpack to at most `RATIO` times its size, plus `SMALL` bytes.
"""

from __future__ import annotations

import math
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....errors import NO_FILES

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
    """The archive at a path, or in a file opened for reading bytes.

    Raises:
        OSError: the file is missing, or is a folder, or may never end (a pipe, a device).
        ValueError, zipfile.BadZipFile: it is not a .npz, or it claims too much memory.
    """
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
        if any(name.endswith("/data.pkl") for name in self.names):
            raise ValueError(PICKLE)
        for info in self._entries.values():
            if not info.filename.endswith(SUFFIX) or info.flag_bits & 1 or info.compress_type not in PACKINGS:
                raise ValueError(f"{info.filename!r:.60} in it is no array as NumPy writes them")
        if len(self.names) > MOST_ARRAYS + 1:
            raise ValueError(f"it holds {len(self.names):,} arrays, more than {MOST_ARRAYS:,}")
        size = sum(info.file_size for info in self._entries.values())
        if size > RATIO * length + SMALL:
            raise ValueError(f"it would unpack from {length:,} to {size:,} bytes")

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
            if dtype.hasobject:
                raise ValueError(f"{name!r:.60} in it holds Python objects, which are never read")
            left, claimed = info.file_size - file.tell(), math.prod(shape) * dtype.itemsize
            if left != claimed or min(shape, default=0) < 0:
                raise ValueError(f"{name!r:.60} in it claims {claimed:,} bytes, and has {left:,}")
        with self._zip.open(info) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
