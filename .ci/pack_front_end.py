"""A wheel holds the front end as one file without comments, and the Chinese texts as one: much alike, packed together."""

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


def _module(file: Path) -> Any:
    """A file of the package that imports nothing of it."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PackFrontEnd(BuildHookInterface[Any]):
    """Put `static.json.bz2` and `texts.json.bz2` in place of the folders, which the wheel leaves out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run by hatchling before it builds a wheel. An editable one reads the folder."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        room = Path(self.root, "autograd_viz", "widget")
        self._put(build_data, "autograd_viz/widget/static.json.bz2", _module(room / "modules.py").packed(room / "static"))
        words = Path(self.root, "autograd_viz", "words")
        texts = {n: t for f in sorted((words / "zh").glob("[!_]*.py")) for n, t in vars(_module(f)).items() if n.isupper()}
        texts["UI"] = {k: t for f in sorted((words / "zh").glob("[!_]*.py")) for k, t in getattr(_module(f), "UI", {}).items()}
        self._put(build_data, "autograd_viz/words/zh/texts.json.bz2", _module(words / "packed.py").packed(texts))

    def _put(self, build_data: dict[str, Any], name: str, content: bytes) -> None:
        """Put a file into the wheel."""
        file = Path(self.folder.name, Path(name).name)
        file.write_bytes(content)
        build_data["force_include"][str(file)] = name

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
