"""A wheel holds the front end as one file without comments: a tenth of its size were names and comments."""

from __future__ import annotations

import importlib.util
import tempfile
from copy import copy
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

try:
    from deflate import deflate_compress
except ImportError:  # installed from a clone; a release is built beside the tests' libraries
    deflate_compress = None


class Deflater:
    """What zipfile asks of a compressor, by libdeflate: a whole file at once, 5 % smaller than zlib's best."""

    def __init__(self) -> None:
        self.data = b""

    def compress(self, data: bytes) -> bytes:
        """Take `data`; nothing comes out before the end."""
        self.data += data
        return b""

    def flush(self) -> bytes:
        """All that was taken, packed."""
        return bytes(deflate_compress(self.data, 12))


class PackFrontEnd(BuildHookInterface[Any]):
    """Put `static.json.bz2` beside the folder `static`, which the wheel leaves out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run by hatchling before it builds a wheel. An editable one reads the folder."""
        if version == "editable":
            return
        room = Path(self.root, "autograd_viz", "widget")
        spec = importlib.util.spec_from_file_location("modules", room / "modules.py")
        assert spec is not None and spec.loader is not None
        modules = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules)
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name, "static.json.bz2")
        file.write_bytes(modules.packed(room / "static"))
        build_data["force_include"][str(file)] = "autograd_viz/widget/static.json.bz2"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Run after it: the files once more, packed as tightly as can be."""
        if version == "editable":
            return
        self.folder.cleanup()
        loose = Path(f"{artifact_path}.loose")
        Path(artifact_path).rename(loose)
        with ZipFile(loose) as before, ZipFile(artifact_path, "w", ZIP_DEFLATED, compresslevel=9) as after:
            for file in before.infolist():
                with after.open(copy(file), "w") as packed:
                    if deflate_compress is not None:
                        packed._compressor = Deflater()  # zipfile has no public place for one
                    packed.write(before.read(file))
        loose.unlink()
