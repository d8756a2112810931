"""Do the tests notice? Changes the package in N random places, one at a time, and runs the tests that come there each time.

    pip install cosmic-ray
    python -m benchmarks.mutants 100 --seed 1

cosmic-ray makes the changes: another operator, another number, a condition turned around. First all tests run once, in a copy
of the tree in which each function notes which tests call it (`visits.py`). A change is made in another copy, two at a time.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KINDS = (
    "NumberReplacer", "AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue",
    "ReplaceUnaryOperator_Delete_Not", "ReplaceBreakWithContinue", "ZeroIterationForLoop", "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add", "ReplaceBinaryOperator_Mul_Div", "ReplaceBinaryOperator_Div_Mul",
    "ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_LtE_Lt", "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt", "ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is",
)  # fmt: skip
LIMIT = 400.0  # seconds of tests; an endless loop counts as noticed
FIRST, THEN = 60, 16  # tests that are run first: those that visit the fewest functions; then files of tests
JOBS = 2
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IGNORED = shutil.ignore_patterns(".git", ".venv", "node_modules", "__pycache__", ".*_cache")


class Change(NamedTuple):
    """One change: a file of the package, what cosmic-ray does, to which of its places, and the line."""

    name: str
    kind: str
    number: int
    line: int


def places(name: str, text: str) -> list[Change]:
    """All changes that can be made in a file."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    tree, found = get_ast(text), list[Change]()
    for kind in KINDS:
        make: Any = get_operator(f"core/{kind}")()
        lines = [start[0] for node in ast_nodes(tree) for start, _ in make.mutation_positions(node)]
        found += [Change(name, kind, i, line) for i, line in enumerate(lines)]
    return found


def chosen(package: Path, number: int, seed: int) -> list[Change]:
    """Random changes: a file by its size, then a place in it."""
    choose = random.Random(seed)
    files = sorted(package.rglob("*.py"))
    sizes, found = [path.stat().st_size for path in files], list[Change]()
    while len(found) < number:
        path = choose.choices(files, sizes)[0]
        name = path.relative_to(package).as_posix()
        if not name.startswith("words") and (known := places(name, path.read_text(encoding="utf-8"))):
            found.append(choose.choice(known))
    return found


def visited(text: str, name: str) -> str:
    """A file in which each function notes its visits, by a builtin: rules run with other globals, too."""
    tree = ast.parse(text)
    for node in [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]:
        at = 1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0
        node.body.insert(at, ast.parse(f"__visits__({f'{name}:{node.lineno}'!r})").body[0])
    after = next((i for i, n in enumerate(tree.body) if not isinstance(n, ast.Expr | ast.ImportFrom)), 0)
    future = [i + 1 for i, n in enumerate(tree.body) if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    tree.body.insert(future[0] if future else min(after, 1), ast.parse("__import__('benchmarks.visits')").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def visits(tree: Path, notes: Path) -> dict[str, set[str]]:
    """By function, `file:line`, the tests that visit it. All tests run, in a copy of the tree."""
    for path in (tree / "autograd_viz").rglob("*.py"):
        name = path.relative_to(tree / "autograd_viz").as_posix()
        path.write_text(visited(path.read_text(encoding="utf-8"), name), encoding="utf-8")
    notes.mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not browser", "-p", "benchmarks.visits"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "VISITS": str(notes)}
    subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, check=False)
    found = defaultdict[str, set[str]](set)
    for file in notes.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            function, _, test = line.partition("\t")
            found[function].add(test)
    return found


class Tests:
    """Which tests to run for a change: the most particular first, then all of their files."""

    def __init__(self, by_function: dict[str, set[str]]) -> None:
        self.by_function = by_function
        self.sizes = Counter(test for tests in by_function.values() for test in tests)

    def of(self, change: Change, text: str) -> list[list[str]]:
        """Those that visit its function; of a line outside of all, those that visit its file, or its folder."""
        inside = [
            n.lineno for n in ast.walk(ast.parse(text)) if isinstance(n, FUNCTIONS) and n.lineno <= change.line <= n.end_lineno
        ]
        own = self.by_function.get(f"{change.name}:{max(inside)}", set()) if inside else set()
        room = change.name
        while not own and room not in ("", "."):
            own = {t for f, tests in self.by_function.items() if f.startswith(room) for t in tests}
            room = os.path.dirname(room)
        files = Counter(test.partition("::")[0] for test in own)
        return [sorted(own, key=lambda t: (self.sizes[t], t))[:FIRST], [file for file, _ in files.most_common(THEN)]]


class Runner:
    """Runs tests in a copy of the tree.

    Attributes:
        failing: tests that fail without any change: they notice nothing.
    """

    failing: list[str]

    def __init__(self, tree: Path, failing: list[str]) -> None:
        self.tree, self.failing = tree, failing

    def first_failure(self, tests: list[str]) -> str | None:
        """The first test that fails, or "" where it cannot be told which; None if all pass."""
        skipped, cache = [f"--deselect={name}" for name in self.failing], self.tree.parent / f"cache of {self.tree.name}"
        shutil.rmtree(cache, ignore_errors=True)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-o", f"cache_dir={cache}", "-m", "not browser"]
        environment = {**os.environ, "PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [*command, *skipped, *tests],
                cwd=self.tree, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ""
        failed = cache / "v" / "cache" / "lastfailed"  # what is printed cannot be split: an id may have spaces
        return None if done.returncode == 0 else next(iter(json.loads(failed.read_text())), "") if failed.exists() else ""

    def notices(self, change: Change, text: str, rounds: list[list[str]]) -> bool:
        """Does a test fail with this change of a file, and not without it?"""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        path = self.tree / "autograd_viz" / change.name
        mutated = mutate_code(text, get_operator(f"core/{change.kind}")(), change.number)
        for tests in filter(None, rounds):
            while True:
                path.write_text(mutated, encoding="utf-8")
                failure = self.first_failure(tests)
                path.write_text(text, encoding="utf-8")
                if failure is None:
                    break
                if not failure or self.first_failure([failure]) is None:
                    return True
                self.failing.append(failure)
        return False


def main() -> None:
    """Print each change that no test notices, and how many were noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = [Path(shutil.copytree(ROOT, Path(folder) / f"tree {k}", ignore=IGNORED)) for k in range(JOBS + 1)]
        package, began = trees[0] / "autograd_viz", time.monotonic()
        texts = {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
        changes = chosen(package, asked.number, asked.seed)
        tests = Tests(visits(trees[0], Path(folder) / "visits"))
        print(
            f"{len(tests.sizes)} tests visit {len(tests.by_function)} functions ({time.monotonic() - began:.0f} s)", flush=True
        )
        failing, runners = list[str](), SimpleQueue[Runner]()
        for tree in trees[1:]:
            runners.put(Runner(tree, failing))

        def is_noticed(change: Change) -> bool:
            runner, started = runners.get(), time.monotonic()
            found = runner.notices(change, texts[change.name], tests.of(change, texts[change.name]))
            runners.put(runner)
            word = "noticed" if found else "SURVIVED"
            print(f"{word:8} {change.name}:{change.line} {change.kind} ({time.monotonic() - started:.0f} s)", flush=True)
            return found

        with ThreadPoolExecutor(JOBS) as pool:
            noticed = [*pool.map(is_noticed, changes)]
    print(f"{sum(noticed)} of {len(noticed)} noticed; failed without a change: {failing or 'none'}")


if __name__ == "__main__":
    main()
