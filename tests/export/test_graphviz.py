"""DOT and Mermaid: every box and arrow is there, and a name is never code."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.pictures.files.dot import quoted

from ..figures import figure

HOSTILE = '</TD>"\\N<b>&amp;\n{x|y}]; click `**x**` %%{init}%%'
SVG = "{http://www.w3.org/2000/svg}"


def drawn(x: Any, **wishes: Any) -> ET.Element:
    """What `dot` makes of it."""
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    source = av.to_graphviz(x, **wishes).source
    done = subprocess.run(["dot", "-Tsvg"], input=source.encode(), capture_output=True, check=True)
    assert not [line for line in done.stderr.decode().splitlines() if "ont" not in line]  # fonts may be missing
    return ET.fromstring(done.stdout)


def texts(svg: ET.Element) -> list[str]:
    return [(e.text or "").replace("\xa0", " ").strip() for e in svg.iter(f"{SVG}text")]


def classes(svg: ET.Element, name: str) -> int:
    return sum(e.get("class") == name for e in svg.iter(f"{SVG}g"))


def test_dot_draws_every_box_and_arrow() -> None:
    e, names = figure(4, before=True)
    svg = drawn(e, step="final")
    d = av.show(e).document
    assert classes(svg, "node") == len(d.tensors) + len(d.ops) + len(d.nodes)
    ends = [
        *(f.node for n in d.nodes for f in n.next_functions),
        *(n.variable for n in d.nodes),
        *(t.grad_fn for t in d.tensors),
    ]
    forward = [*(i.tensor for o in d.ops for i in o.inputs), *(t for o in d.ops for t in o.outputs)]
    assert classes(svg, "edge") == sum(end is not None for end in (*ends, *forward))
    words = texts(svg)
    assert {"12.0", "next_functions[0] = (MulBackward0, 0)", "AccumulateGrad"} <= set(words)
    assert "tensor(12.)" in words and names["a"].grad is None
    assert "tensor(12.)" not in texts(drawn(e, step=0))


def test_a_name_is_text_in_dot() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    leaves = [x]
    del x
    svg = drawn(leaves[0] * 2, params={HOSTILE: leaves[0]})
    assert HOSTILE.replace("\n", " ") in texts(svg)


NAMES = ["\t", "a\tb", "\n", *(letter * 50_000 for letter in "a &é")]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: f"{name[:3]!r}")
@pytest.mark.parametrize("kind", ["variable", "function", "parameter", "scope"])
def test_a_name_of_blanks_or_of_a_book_is_drawn(name: str, kind: str) -> None:
    """Graphviz passes over tabs, and refuses long texts and wide boxes."""
    leaf = av.nn.Parameter(av.tensor([1.0, 2.0]))
    model = av.nn.Module()
    model.register_parameter(name, leaf)
    passed = {"forward": staticmethod(lambda ctx, x: x * 1), "backward": staticmethod(lambda ctx, g: g)}
    with av.scope(name) if kind == "scope" else nullcontext():
        y = type(name, (av.autograd.Function,), passed).apply(leaf) if kind == "function" else leaf * 2
    params: Any = {"parameter": model, "variable": {name: leaf}}.get(kind)
    svg = drawn(y, params=params)
    expected = name.replace("\t", " ").replace("\n", " ").strip()
    assert kind == "scope" or any(expected.startswith(t.rstrip("…")) for t in texts(svg) if t or not expected)
    assert classes(svg, "node") == len(av.show(y).document.nodes) + len(av.show(y).document.ops) + 2


def test_a_dot_file_is_the_source(tmp_path: Path) -> None:
    e, _ = figure(3)
    av.save(e, tmp_path / "e.dot", theme="waite")
    assert (tmp_path / "e.dot").read_text() == av.to_graphviz(e, theme="waite").source
    assert "#d5e8d4" in (tmp_path / "e.dot").read_text()


def test_mermaid_has_the_structure(tmp_path: Path) -> None:
    a = av.tensor(2.0, requires_grad=True)
    b = a * 3
    av.save(b, tmp_path / "b.mmd", params={"a": a})
    lines = [line.strip() for line in (tmp_path / "b.mmd").read_text().splitlines()]
    assert lines[:5] == [
        "flowchart TD",
        't0["a"]:::green',
        't1["b"]:::brown',
        'o0(["Mul#40;#183;, 3#41;"]):::brown',
        'n0("MulBackward0"):::blue',
    ]
    edges = {"t0 --> o0", "o0 --> t1", "t1 -.-> n0", "n0 -.-> n1", "n1 -.-> t0"}
    assert edges == {line for line in lines if "->" in line}


def test_a_name_is_text_in_mermaid() -> None:
    assert quoted('a"b') == "a#34;b"
    assert quoted("") == quoted("\n") == " "
    assert re.fullmatch(r"(?:[\w ._,=-]|#\d+;)*", quoted(HOSTILE + "数据"))
