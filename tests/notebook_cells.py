"""Run the cells of notebooks in one process, each notebook in a namespace of its own: python -m tests.notebook_cells PATHS."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell


def output(path: Path) -> str:
    """What the cells print. They run in the notebook's folder."""
    os.chdir(path.parent)
    shell, printed = InteractiveShell(), []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()) as said:
                done = shell.run_cell(cell.source, store_history=True)
            printed.append(said.getvalue())
            if not done.success:
                raise RuntimeError(f"{path.name}: {cell.source}") from (done.error_before_exec or done.error_in_exec)
    return "".join(printed)


if __name__ == "__main__":
    print(json.dumps({path: output(Path(path)) for path in sys.argv[1:]}))
