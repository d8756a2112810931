"""Draws the tower of rooms (docs/pictures/house.svg) from the package's imports: ``python .ci/draw_house.py``; needs `dot`."""

from __future__ import annotations

import sys
from pathlib import Path

import graphviz

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.house import FLOORS, without_detours  # noqa: E402


def main() -> None:
    """Write the picture."""
    tower = graphviz.Digraph("house", graph_attr={"rankdir": "TB", "nodesep": "0.3", "ranksep": "0.35", "bgcolor": "white"})
    tower.attr("node", shape="box", style="rounded,filled", fillcolor="#eef3fb", color="#4a6da7", fontname="Helvetica")
    tower.attr("edge", color="#4a6da7", arrowsize="0.7")
    for name, below in without_detours(FLOORS).items():
        tower.node(name, "autograd_viz" if name == "__init__" else name)
        tower.edges((name, other) for other in sorted(below))
    svg = tower.pipe("svg", encoding="utf-8")
    (ROOT / "docs" / "pictures" / "house.svg").write_text(svg[svg.index("<svg") :], encoding="utf-8")


if __name__ == "__main__":
    main()
