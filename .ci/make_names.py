"""Writes core/base/names.pyi, which says where each op that rules may name is declared: ``python .ci/make_names.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograd_viz.twin.core.base.readings import TENSOR_NAMES  # noqa: E402
from autograd_viz.twin.core.methods import load_more  # noqa: E402

CORE = ROOT / "autograd_viz" / "twin" / "core"
HEAD = "# Made by .ci/make_names.py.\n# ruff: noqa: A004, E402, I001\nfrom typing import Any\n\n"


def is_op(name: str, function: Any) -> bool:
    """Is `function` what rules call `name`, perhaps bound to other names?"""
    op = TENSOR_NAMES.get(name)
    return op is function or (hasattr(op, "__code__") and getattr(function, "__code__", None) is op.__code__)


def stub() -> str:
    """The text of names.pyi: an import for each op with a name in a file, and `Any` for what a loop declares."""
    load_more()
    homes = {}
    for path in [*CORE.glob("ops/*/*.py"), *CORE.glob("ops_more/*.py")]:
        home = ".".join(path.relative_to(CORE).with_suffix("").parts)
        module = sys.modules.get(f"autograd_viz.twin.core.{home}")
        written = re.findall(r"^(?:def )?(\w+)(?:\(| = )", path.read_text(encoding="utf-8"), re.M)
        homes.update({name: home for name in written if is_op(name, getattr(module, name, home))})
    names = sorted((homes.get(name, ""), name) for name in TENSOR_NAMES if name != "np")
    return HEAD + "".join(f"from ..{home} import {n} as {n}\n" if home else f"{n}: Any\n" for home, n in names)


if __name__ == "__main__":
    (CORE / "base" / "names.pyi").write_text(stub(), encoding="utf-8")
