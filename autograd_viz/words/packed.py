"""The texts of a translation as one file, in a wheel in place of its folder: half as large as by a wheel's own packing."""

from __future__ import annotations

import bz2
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

FILE = "texts.json.bz2"


def packed(texts: Mapping[str, Any]) -> bytes:
    """The file."""
    return bz2.compress(json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode())


def texts_of(package: str) -> dict[str, Any]:
    """What the file of a language holds; empty in a clone, which has its folder."""
    file = resources.files(package) / FILE
    return dict(json.loads(bz2.decompress(file.read_bytes()))) if file.is_file() else {}
