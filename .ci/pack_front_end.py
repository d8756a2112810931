"""A wheel holds the front end as one file without comments: a tenth of its size were names and comments."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackFrontEnd(BuildHookInterface[Any]):
    """Put `static.json` beside the folder `static`, which the wheel leaves out."""

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
        file = Path(self.folder.name, "static.json")
        file.write_text(modules.packed(room / "static"), encoding="utf-8")
        build_data["force_include"][str(file)] = "autograd_viz/widget/static.json"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Run after it."""
        if version != "editable":
            self.folder.cleanup()
