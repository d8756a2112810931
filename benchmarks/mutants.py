"""Do the tests notice? Changes the package in N random places, one at a time, and runs the tests of the room each time.

    pip install cosmic-ray
    python -m benchmarks.mutants 100 --seed 1

cosmic-ray makes the changes: another operator, another number, a condition turned around. Each runs in a copy of the tree.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# what is tested by which files; the longest beginning of a path counts
TESTS = {
    "twin/core": "core nn/test_layers.py nn/test_module.py nn/test_state.py test_func.py",
    "twin/autograd": "core test_func.py",
    "twin/nn": "nn core/test_functions.py core/test_torch.py",
    "twin/optim": "optim",
    "twin/distributions": "test_distributions.py",
    "twin": "test_namespaces.py core nn optim",
    "graph": "graph layout render maps test_stepper.py trust",
    "pictures/layout": "layout render maps",
    "pictures/render": "render graph maps test_docs.py",
    "pictures/maps": "maps memory differences widget/test_map.py widget/test_map_layout.py",
    "pictures/memory": "memory",
    "pictures/runs": "runs",
    "pictures/differences": "differences",
    "pictures/jobs": "distributed",
    "pictures/times": "times",
    "pictures/files": "export",
    "answers/sentences": "test_named_rules.py test_sentences.py test_stepper.py explain core/test_formulas.py sources",
    "answers": "explain sources runs memory",
    "sources/twin": "sources core test_stepper.py explain runs memory",
    "sources/shared": "sources test_stepper.py test_debugger.py explain runs memory",
    "sources/pytorch/ranks": "distributed",
    "sources/pytorch/run": "runs",
    "sources/pytorch/timing": "times",
    "sources": "sources explain memory runs test_views.py test_cli_last.py",
    "stepper": "test_stepper.py test_debugger.py test_debugger_stops.py test_debugger_conditions.py test_debugger_pins.py "
    "test_debugger_rewind.py widget trust",
    "widget": "widget test_views.py test_page_output.py runs/test_picture.py",
    "site": "test_site.py",
    "verbs": "test_options.py test_views.py runs maps export explain differences memory",
    "cli": "test_cli.py test_cli_program.py test_cli_watch.py test_cli_last.py test_cli_modules.py",
    "lessons": "test_lessons.py",
    "runtime": "trust export core",
    "": "test_architecture.py test_views.py export test_words.py",
}
KINDS = (
    "NumberReplacer", "AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue",
    "ReplaceUnaryOperator_Delete_Not", "ReplaceBreakWithContinue", "ZeroIterationForLoop", "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add", "ReplaceBinaryOperator_Mul_Div", "ReplaceBinaryOperator_Div_Mul",
    "ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_LtE_Lt", "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_GtE_Gt", "ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is",
)  # fmt: skip
LIMIT = 400.0  # seconds of tests; an endless loop counts as noticed


def places(path: Path) -> list[tuple[str, int, int]]:
    """All changes that can be made in a file: kind, number among its kind, line."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    tree, found = get_ast(path.read_text(encoding="utf-8")), list[tuple[str, int, int]]()
    for kind in KINDS:
        make: Any = get_operator(f"core/{kind}")()
        lines = [start[0] for node in ast_nodes(tree) for start, _ in make.mutation_positions(node)]
        found += [(kind, i, line) for i, line in enumerate(lines)]
    return found


def tests_of(path: str) -> list[str]:
    """The tests of the room of a file."""
    room = max((r for r in TESTS if path.startswith(r)), key=len)
    return [f"tests/{name}" for name in TESTS[room].split()]


class Runner:
    """Runs tests in a copy of the tree.

    Attributes:
        failing: tests that fail without any change: they notice nothing.
    """

    def __init__(self, tree: Path) -> None:
        self.tree, self.failing = tree, list[str]()

    def first_failure(self, tests: list[str]) -> str | None:
        """The first test that fails, or "" where it cannot be told which; None if all pass."""
        skipped, cache = [f"--deselect={name}" for name in self.failing], self.tree.parent / "cache"
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

    def notices(self, name: str, text: str, mutated: str) -> bool:
        """Does a test of the room fail with this change of a file, and not without it?"""
        path = self.tree / "autograd_viz" / name
        while True:
            path.write_text(mutated, encoding="utf-8")
            failure = self.first_failure(tests_of(name))
            path.write_text(text, encoding="utf-8")
            if not failure or self.first_failure([failure]) is None:
                return failure is not None
            self.failing.append(failure)


def main() -> None:
    """Print each change that no test notices, and how many were noticed."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    choose, package = random.Random(asked.seed), ROOT / "autograd_viz"
    files = sorted(package.rglob("*.py"))
    sizes = [path.stat().st_size for path in files]
    noticed = made = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", "node_modules", "__pycache__", ".*_cache"))
        runner = Runner(tree)
        while made < asked.number:
            path = choose.choices(files, sizes)[0]
            name, text = path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")
            if not name.startswith("words") and (known := places(path)):
                (kind, i, line), began = choose.choice(known), time.monotonic()
                is_noticed = runner.notices(name, text, mutate_code(text, get_operator(f"core/{kind}")(), i))
                made, noticed = made + 1, noticed + is_noticed
                word = "noticed" if is_noticed else "SURVIVED"
                print(f"{made:4} {word:8} {name}:{line} {kind} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{noticed} of {made} noticed; failed without a change: {runner.failing or 'none'}")


if __name__ == "__main__":
    main()
