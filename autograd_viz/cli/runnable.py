"""The code of a script or of a notebook's cells, in the form that Python runs."""

from __future__ import annotations

import json
import linecache
import tokenize
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

RUNS_ITS_BODY = ("time", "timeit", "capture", "prun")  # cell magics around Python code
RUNS_ITS_LINE = ("time", "prun")  # line magics around Python code; the line may be an assignment: `loss = %time f(x)`


def cells_of(path: Path) -> list[tuple[str, str]]:
    """(name, code) of each part: one for a script, one for each code cell of a notebook.

    Raises:
        OSError: the file cannot be read.
        ValueError, SyntaxError, KeyError: it is not a text or a notebook, or its encoding is unknown.
    """
    if path.suffix != ".ipynb":
        with tokenize.open(path) as file:  # in the encoding that the file declares
            return [(str(path.absolute()), file.read())]
    notebook = json.loads(path.read_text(encoding="utf-8"))
    codes = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    cells = [(f"{path}, cell {i}", _as_python(code)) for i, code in enumerate(codes, 1)]
    for name, code in cells:
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    return cells


def _as_python(code: str) -> str:
    """A cell with its %magics and !commands as calls, as IPython parses it."""
    found: str = TransformerManager().transform_cell(code)  # type: ignore[no-untyped-call]
    return found


class NoShell:
    """The result of `get_ipython()` in a cell that runs without IPython. %magics and !commands do nothing.

    Args:
        namespace: the namespace for the body of %%time and similar magics.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        """Run the body of a magic that only measures Python code."""
        if name in RUNS_ITS_BODY:
            exec(compile(_as_python(body), f"%%{name}", "exec", dont_inherit=True), self._namespace)

    def run_line_magic(self, name: str, line: str, *_: Any) -> Any:
        """Run the statement of a magic that only measures it, or return the value of an expression."""
        if name not in RUNS_ITS_LINE:
            return None
        try:
            expression = compile(line.strip(), f"%{name}", "eval", dont_inherit=True)
        except SyntaxError:
            return exec(compile(line.strip(), f"%{name}", "exec", dont_inherit=True), self._namespace)
        return eval(expression, self._namespace)

    def getoutput(self, *_: Any) -> list[str]:
        """The output lines of a !command: none."""
        return []

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None
