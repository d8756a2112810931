"""Small files that would take a machine. `python -m tests.trust.bombs folder` loads those in a folder, and says how it went."""

from __future__ import annotations

import io
import json
import resource
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autograd_viz as av
from autograd_viz.errors import AutogradVizError

DOCUMENT: dict[str, Any] = {
    "tensors": [
        {"id": "t0", "name": "a", "value": {"shape": [], "dtype": "float32", "text": "1.", "numbers": [1.0]}, "grad": None,
         "grad_fn": None, "output_nr": 0, "is_leaf": True, "requires_grad": True},
        {"id": "t1", "name": "b", "value": {"shape": [], "dtype": "float32", "text": "2.", "numbers": [2.0]}, "grad": None,
         "grad_fn": "n0", "output_nr": 0, "is_leaf": False, "requires_grad": True},
    ],
    "ops": [{"id": "o0", "name": "Exp", "inputs": [{"tensor": "t0"}], "outputs": ["t1"], "node": "n0"}],
    "nodes": [
        {"id": "n0", "name": "ExpBackward0", "op": "o0", "outputs": 1, "order": 0,
         "next_functions": [{"node": "n1", "index": 0}]},
        {"id": "n1", "name": "AccumulateGrad", "op": None, "outputs": 1, "variable": "t0"},
    ],
    "roots": ["t1"],
}  # fmt: skip


def document(*changes: tuple[tuple[Any, ...], Any], trace: Any = None) -> bytes:
    """The text of a small recording with other values at some places."""
    plain = json.loads(json.dumps({"schema": 1, "document": DOCUMENT, "trace": trace or {"complete": True}}))
    for (*way, last), value in changes:
        place = plain["document"]
        for key in way:
            place = place[key]
        place[last] = value
    return json.dumps(plain).encode()


def value(**other: Any) -> tuple[tuple[Any, ...], Any]:
    """The value of a tensor, as a change."""
    return ("tensors", 0, "value"), {"shape": [], "dtype": "float32", "text": "1.", **other}


def archive(write: Callable[[zipfile.ZipFile], Any]) -> bytes:
    """A zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zip:
        write(zip)
    return out.getvalue()


def header(shape: str, descr: str = "'<f8'") -> bytes:
    """Of an array of NumPy's."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def half_a_gigabyte(zip: zipfile.ZipFile) -> None:
    """Of zeros."""
    with zip.open("a.npy", "w", force_zip64=True) as file:
        file.write(header("(500000000,)", "'|u1'"))
        for _ in range(50):
            file.write(bytes(10_000_000))


def many_names(zip: zipfile.ZipFile) -> None:
    """One array, named a hundred thousand times."""
    names = json.dumps({"list": [{"tensor": "a"}] * 100_000}).encode()
    zip.writestr("a.npy", header("(1000000,)", "'<f4'") + bytes(4_000_000))
    array = io.BytesIO()
    np.save(array, np.frombuffer(names, np.uint8))
    zip.writestr("__structure__.npy", array.getvalue())


def structure(text: bytes) -> bytes:
    """An archive with this text as the structure."""
    array = io.BytesIO()
    np.save(array, np.frombuffer(text, np.uint8))
    return archive(lambda z: z.writestr("__structure__.npy", array.getvalue()))


BOMBS: dict[str, Callable[[], bytes]] = {
    "outputs.json": lambda: document((("nodes", 0, "outputs"), 10**9)),
    "outputs_of_a_leaf.json": lambda: document((("nodes", 1, "outputs"), 10**9)),
    "shape.json": lambda: document(value(shape=[10**8, 0], numbers=[1.0])),
    "long_shape.json": lambda: document(value(shape=[10**8, 0])),
    "list_for_float.json": lambda: document(value(summary={"least": []})),
    "brackets.json": lambda: b"[" * 2000,
    "a_million_brackets.json": lambda: b"[" * 1_000_000,
    "braces.json": lambda: b'{"a":' * 500_000,
    "dimensions.json": lambda: document(value(shape=[1] * 5000, numbers=[1.0])),
    "numbers.json": lambda: document(value(shape=[3], numbers=[1.0])),
    "members.json": lambda: document((("ops", 0, "members"), 3)),
    "members_of_a_node.json": lambda: document((("nodes", 0, "members"), 3)),
    "entries.json": lambda: document((("nodes", 0, "entries"), [{"name": "x", "index": 0}])),
    "index.json": lambda: document((("tensors", 1, "output_nr"), 10**400)),
    "number.json": lambda: document(value(numbers=[10**400])),
    "digits.json": lambda: document().replace(b'"index": 0', b'"index": ' + b"9" * 5_000_000),
    "empty_lists.json": lambda: b'{"schema": 1, "document": {"tensors": [' + b"[]," * 3_000_000 + b"[]]}}",
    "empty_objects.json": lambda: b'{"schema": 1, "document": {"tensors": [' + b"{}," * 3_000_000 + b"{}]}}",
    "short_lists.json": lambda: b'{"schema": 1, "document": {"tensors": [' + b"[100]," * 1_600_000 + b"[]]}}",
    "numbers_for_tensors.json": lambda: b'{"schema": 1, "document": {"tensors": [' + b"257," * 3_000_000 + b"1]}}",
    "deep_module.json": lambda: document((("ops", 0, "module"), "a." * 400_000 + "a")),
    "deep_name.json": lambda: document((("tensors", 0, "name"), "a." * 400_000 + "a")),
    "said.json": lambda: document((("tensors", 0, "name"), "a" * 900_000), (("ops", 0, "inputs"), [{"tensor": "t0"}] * 50_000)),
    "circle.json": lambda: document((("nodes", 0, "next_functions"), [{"node": "n0", "index": 0}])),
    "text.json": lambda: b'{"schema": 1, "document": "' + b"a" * 20_000_000 + b'"}',
    "emoji.json": lambda: b'{"schema": 1, "document": "' + b"a" * 10_000_000 + "\U0001f600".encode() + b'"}',
    "zeros.npz": lambda: archive(half_a_gigabyte),
    "claims.npz": lambda: archive(lambda z: z.writestr("a.npy", header("(10000000000000,)"))),
    "claims_nothing.npz": lambda: archive(lambda z: z.writestr("a.npy", header("(0, 10**30)"))),
    "negative.npz": lambda: archive(lambda z: z.writestr("a.npy", header("(-1, -8)") + bytes(64))),
    "names.npz": lambda: archive(many_names),
    "deep_structure.npz": lambda: structure(b'{"list":[' * 3000 + b"]}" * 3000),
    "wide_structure.npz": lambda: structure(b'{"list":[' + b"{}," * 2_500_000 + b"{}]}"),
    "kind.npz": lambda: structure(b'{"nothing": 3}'),
    "no_json.npz": lambda: structure(b"\xff\xfe{"),
    "entries.npz": lambda: archive(lambda z: [z.writestr(f"{i}.npy", b"") for i in range(60_000)]),
}  # fmt: skip


def tried(path: Path) -> dict[str, Any]:
    """How it ended, how long it took, and by how much the process has grown, in MB."""
    before, begin = _peak(), time.perf_counter()
    try:
        av.load(path)
        end = "loaded"
    except AutogradVizError as error:
        end = f"{type(error).__name__}: {error!s:.150}"
    return {"end": end, "seconds": time.perf_counter() - begin, "megabytes": _peak() - before}


def _peak() -> float:
    """The largest this process has been so far, in MB; Linux's `getrusage` would count the parent before it was another."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    print(json.dumps({path.name: tried(path) for path in sorted(Path(sys.argv[1]).iterdir(), key=lambda p: p.stat().st_size)}))
