"""Questions in a file beside a notebook. A cell that asks one does not show its answer.

questions/04.toml                              asked by ask.choice("04.how_often")

[how_often]
answer = 'len(y.grad_fn.next_functions)'       Python on the caller's names; the value of its last line is an option
edges_of = "y"                                 the hint lists the next_functions of this tensor; or a hint, below
[how_often.en]                                 and .zh; without the chosen language, the English text is shown
question = "How many edges leave `Mul`?"
options = ["1", "2"]
why = "One for each factor."
hint = "`y` is {y}."                           {an expression} is its value when the question is asked
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import words

FOLDER = "questions"


@dataclass(frozen=True, slots=True)
class Written:
    """A question as its file has it, in the chosen language."""

    name: str
    text: str
    options: tuple[str, ...]
    english: tuple[str, ...]  # the English options, in the same order; the answer's result is one of them
    answer: str
    why: str
    hint: str
    edges_of: str

    def found(self, names: Mapping[str, Any]) -> str:
        """Run the answer's program on a copy of the names; the result is an option of `options`, if it is one at all."""
        value = str(value_of(self.answer, names, self.name))
        return self.options[self.english.index(value)] if value in self.english else value

    def hint_on(self, names: Mapping[str, Any]) -> Any:
        """The hint with its values, or the tensor whose edges are the hint."""
        return value_of(self.edges_of or f"f{self.hint!r}", names, self.name)


def value_of(program: str, names: Mapping[str, Any], name: str) -> Any:
    """Run a program on a copy of the names. The value of its last line, or None if that is a statement."""
    tree, space, file = ast.parse(program.strip()), dict(names), f"<question {name}>"
    *before, last = tree.body
    value = last.value if isinstance(last, ast.Expr) else None
    exec(compile(ast.Module(tree.body if value is None else before, []), file, "exec"), space)
    return None if value is None else eval(compile(ast.Expression(value), file, "eval"), space)


def written(name: str, start: Path | None = None) -> Written:
    """The question `file.key` of `questions/file.toml`, in a folder (else the working directory, which is a notebook's own) or
    the one around it. A question has a program, so no other place is searched.

    ValueError: no such file or key, or a question without a text, options or an answer.
    """
    file, _, key = name.partition(".")
    start = start or Path.cwd()
    path = next((p for d in (start, start.parent) if (p := d / FOLDER / f"{file}.toml").is_file()), None)
    if path is None:
        raise ValueError(f"question {name!r}: there is no {FOLDER}/{file}.toml in this folder or the one around it")
    try:
        entry = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"question {name!r}: {FOLDER}/{path.name} cannot be read: {error}") from error
    if key not in entry:
        raise ValueError(f"question {name!r}: {FOLDER}/{path.name} has no [{key}]; it has {', '.join(entry)}")
    return _read(name, entry[key])


def _read(name: str, entry: dict[str, Any]) -> Written:
    english = entry.get("en") or next((v for v in entry.values() if isinstance(v, dict)), {})
    text = entry.get(words.language(), english)
    missing = [n for n, held in (("answer", entry), ("question", text), ("options", text)) if n not in held]
    if missing:
        raise ValueError(f"question {name!r} has no {missing[0]!r}")
    options, plain = (tuple(map(str, t.get("options", ()))) for t in (text, english))
    if len(options) != len(plain):
        raise ValueError(f"question {name!r} has {len(plain)} options in one language and {len(options)} in another")
    why, hint = text.get("why", ""), text.get("hint", "")
    return Written(name, text["question"], options, plain, entry["answer"], why, hint, entry.get("edges_of", ""))
