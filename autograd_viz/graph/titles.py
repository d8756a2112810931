"""The titles of groups: by path and class of their module, by the lines of a loop, by their ops, or by position."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from .model import Document
from .paths import Path
from .surroundings import Source

FEW = 3  # names in a title
LONGEST = 20  # letters of a function's name


class Titles:
    """The titles of one document's groups; `paths` has the module of each of its ops."""

    def __init__(self, document: Document, paths: Sequence[Path]) -> None:
        self.ops, self.paths = document.ops, paths
        self.classes = {m.path: m.name for m in document.modules if m.name}
        self._files = {op.source.file for op in document.ops if op.source is not None}

    def of_turns(self, modules: Sequence[str], turn: Sequence[int], path: Path, names: Sequence[str]) -> tuple[str, str]:
        """Title of a repetition, and the text after it.

        Args:
            modules: the paths of its turns, if each is a module.
            turn: the ops of the first turn that are in no group of it.
            path: the module in which it repeats.
            names: the items of its first turn.
        """
        if modules:
            first, last = modules[0], modules[-1]
            classes = {self.classes.get(m, "") for m in modules}
            return (f"{first} … {last}" if first != last else first), classes.pop() if len(classes) == 1 else ""
        lines = self._lines([s for i in turn if self.paths[i] == path and (s := self.ops[i].source) is not None])
        if len(names) == 1:
            return names[0], lines
        return lines or few(names), ""

    def of_op(self, i: int, path: Path) -> str:
        """Title of an op in `path`: the class of the module, if the module has only this op."""
        inner = self.paths[i] != path
        return (self.classes.get(".".join(self.paths[i]), "") if inner else "") or self.ops[i].name

    def _lines(self, sources: Sequence[Source]) -> str:
        """`line 3`, `rollout, lines 3 – 4`, `train.py:3`; nothing if they are in several files."""
        files = {s.file for s in sources}
        if len(files) != 1:
            return ""
        first, last, file = min(s.line for s in sources), max(s.line for s in sources), files.pop()
        place = f"{first}" if first == last else f"{first} – {last}"
        is_named = not file.startswith("<") and "ipykernel" not in file
        if len(self._files) > 1 and is_named:
            return f"{PurePath(file).name}:{place}"
        functions = {s.function for s in sources}
        function = f"{name}, " if len(functions) == 1 and len(name := functions.pop()) in range(1, LONGEST) else ""
        return f"{function}line {place}" if first == last else f"{function}lines {place}"


def few(names: Sequence[str]) -> str:
    """The first few in a row: "Mul, Add, …"."""
    return ", ".join([*names[:FEW], *["…"] * (len(names) > FEW)])
