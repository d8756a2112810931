"""A script, a notebook or a module, in the form that Python runs."""

from __future__ import annotations

import ast
import json
import linecache
import os
import re
import sys
import tokenize
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

RUNS_ITS_BODY = ("time", "timeit", "capture", "prun", "record")  # cell magics around Python code
RUNS_ITS_LINE = ("time", "prun")  # line magics around Python code; the line may be an assignment: `loss = %time f(x)`
AROUND = re.compile(rf"\s*%%(?:{'|'.join(RUNS_ITS_BODY)})\b.*")


@dataclass(frozen=True)
class Program:
    """What is run."""

    name: str  # what the user calls it
    cells: list[tuple[str, str]]  # (file, code) of each part: one for a script, one for each code cell of a notebook
    first: str  # ``sys.argv[0]``
    folder: str  # ``sys.path[0]``
    facts: dict[str, Any] = field(default_factory=dict)  # the attributes of its ``__main__``
    is_notebook: bool = False  # it may use what notebooks have

    @property
    def uses_torch(self) -> bool:
        """Does it import PyTorch, or another part of its package that may? The import takes a second, so others skip it."""
        return any(_uses_torch(text) for _, text in self.cells) and find_spec("torch") is not None


def program_at(path: Path) -> Program:
    """A script (.py) or notebook (.ipynb). It raises what reading or parsing the file raises."""
    folder = str(path.resolve().parent)
    if path.suffix != ".ipynb":
        with tokenize.open(path) as file:  # in the encoding that the file declares
            cells = [(str(path.absolute()), file.read())]
        return Program(str(path), cells, str(path), folder, {"__file__": str(path.absolute())})
    notebook = json.loads(path.read_text(encoding="utf-8"))
    codes = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    cells = [(f"{path}, cell {i}", _as_python(code)) for i, code in enumerate(codes, 1)]
    for name, code in cells:
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    return Program(str(path), cells, str(path), folder, is_notebook=True)


def program_of_module(name: str) -> Program:
    """A module, as ``python -m`` finds it; of a package its ``__main__``. LookupError: there is none with a source."""
    folder = os.getcwd()
    sys.path[:0] = [folder]
    try:
        spec = _found(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = _found(f"{name}.__main__")
    finally:
        sys.path.remove(folder)
    source = None if spec is None or spec.loader is None else cast(Any, spec.loader).get_source(spec.name)
    if spec is None or spec.origin is None or source is None:
        raise LookupError(f"no module named {name!r} with a source that can be run")
    facts = {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent, "__loader__": spec.loader}
    return Program(name, [(spec.origin, source)], spec.origin, folder, facts)


def _found(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


def _uses_torch(text: str) -> bool:
    if "as_torch()" in text:  # the twin by PyTorch's name
        return False
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [n.module or "" if isinstance(n, ast.ImportFrom) else a.name for n in imports for a in n.names]
    is_part = any(isinstance(n, ast.ImportFrom) and n.level for n in imports)
    return is_part or any(name.split(".")[0] == "torch" for name in names)


def _as_python(code: str) -> str:
    """A cell with its %magics and !commands as calls, as IPython parses it. A magic around Python code is left out."""
    first, end, body = code.partition("\n")
    from IPython.core.inputtransformer2 import TransformerManager

    found: str = TransformerManager().transform_cell(f"# {first}{end}{body}" if AROUND.fullmatch(first) else code)  # type: ignore[no-untyped-call]
    return found


class NoShell:
    """The result of `get_ipython()` in a cell that runs without IPython. %magics and !commands do nothing."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

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
