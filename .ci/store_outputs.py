"""Run the notebooks and store their outputs, so that they read without running (on GitHub, say).

    python .ci/store_outputs.py                   # rewrite notebooks/**/*.ipynb
    python .ci/store_outputs.py 01 zh/02          # those whose names begin so
    python .ci/store_outputs.py --check           # fail if a stored output is not what running gives now

PyTorch must be there: they compare with it. Widget views are left out: a stored one would show "model not found" beside its
picture. The check does not compare the pages that step, which have the whole front end in them.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # jsonschema goes without; its grammars take 1.5 s

import nbformat  # noqa: E402
from jupyter_client import AsyncKernelManager  # noqa: E402
from nbclient import NotebookClient  # noqa: E402

from tests import fresh  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
HASHES = ROOT / "autograd_viz" / "cli" / "notebooks.txt"
# what kernels and notebooks import, autograd_viz itself left out
IMPORTED = ("torch", "torch._dynamo", "scipy.special", "ipykernel.ipkernel", "ipykernel.kernelapp", "anywidget")
WIDGET, HTML = "application/vnd.jupyter.widget-view+json", "text/html"
MARK = re.compile(r"av-still-[0-9a-f]+")
ASKED = re.compile(r"^ask\.\w+\(.*\)$", re.MULTILINE)


def all_notebooks() -> list[Path]:
    """Every notebook, those of other languages after the English ones."""
    return sorted(NOTEBOOKS.glob("*.ipynb")) + sorted(NOTEBOOKS.glob("*/*.ipynb"))


def executed(path: Path, **kernel: Any) -> nbformat.NotebookNode:
    """The notebook with fresh outputs.

    Args:
        path: where it is; it runs there.
        kernel: how to start one, `env` for instance.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised.
    """
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    with tempfile.TemporaryDirectory() as folder:
        # by ipc, because two kernels that start at once can choose the same port
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=f"{folder}/kernel.json")
        manager.kernel_spec.argv[:1] = fresh.python(*IMPORTED)
        client = NotebookClient(notebook, manager, timeout=120, resources=place)
        # `run` closes the loop, which client.execute leaves open in each thread
        asyncio.run(client.async_execute(cleanup_kc=True, **kernel))
    return settled(notebook)


def settled(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A notebook that has run, without what is another at every run, and without the answer below a question."""
    is_asked = False
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("execution", None)
        cell.metadata.pop("trusted", None)
        is_asked &= cell.cell_type == "code"
        if cell.cell_type == "code":
            outputs = [o for o in one_of_each_stream(cell.outputs) if WIDGET not in o.get("data", {})]
            is_answer = is_asked and cell.source.startswith("heat(")
            outputs = [o for o in outputs if not (is_answer or (is_asked and o.output_type == "stream"))]
            cell.outputs = [still(o, f"av-still-{number}") for o in outputs]
            is_asked |= ASKED.search(cell.source) is not None
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def one_of_each_stream(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """A cell's outputs, all that it printed in its first stream: whether two prints arrive as one message is a matter of time.

    nbclient's own `coalesce_streams` loses the places of displays that a later cell updates.
    """
    kept, streams = list[nbformat.NotebookNode](), dict[str, nbformat.NotebookNode]()
    for output in outputs:
        name = output.get("name") if output.output_type == "stream" else None
        if name in streams:
            streams[name].text += output.text
        else:
            kept.append(output)
            if name is not None:
                streams[name] = output
    return kept


def still(output: nbformat.NotebookNode, mark: str) -> nbformat.NotebookNode:
    """A picture, page or question with a mark that is the same at every run."""
    if HTML in output.get("data", {}):
        output.data[HTML] = MARK.sub(mark, output.data[HTML])
    return output


def comparable(notebook: nbformat.NotebookNode) -> str:
    """The notebook's text without its pages."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "<iframe" in data.get(HTML, ""):
                del data[HTML]
    return nbformat.writes(notebook)


def write_hashes() -> None:
    """By them `autograd-viz lab` knows a notebook that nobody has changed."""
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(NOTEBOOKS).as_posix()}\n" for p in all_notebooks()]
    HASHES.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    """Store or check; the exit code says whether all is well."""
    wanted = tuple(a for a in sys.argv[1:] if a != "--check")
    paths = [p for p in all_notebooks() if not wanted or p.relative_to(NOTEBOOKS).as_posix().startswith(wanted)]
    stale = []
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:  # kernels of several processes would choose the same ports
        for path, fresh in zip(paths, pool.map(executed, paths), strict=True):
            if "--check" in sys.argv:
                stale += [path.name] * (comparable(nbformat.read(path, as_version=4)) != comparable(fresh))
            else:
                path.write_text(nbformat.writes(fresh) + "\n", encoding="utf-8")
    if "--check" not in sys.argv:
        write_hashes()
    if stale:
        print(f"stored outputs differ from what running gives: {', '.join(stale)}; run .ci/store_outputs.py", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
