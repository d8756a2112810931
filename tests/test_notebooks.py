"""The notebooks: they run, with PyTorch and without, what is stored is what running gives, and no misconception is left out."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from . import effort

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
ENGLISH = sorted(FOLDER.glob("*.ipynb"))
CHINESE = sorted((FOLDER / "zh").glob("*.ipynb"))
NOTEBOOKS = [*ENGLISH, *CHINESE]
# the Chinese ones are the same programs: one of them shows in JupyterLab that its questions are judged alike
# with what only a page shows: questions, compared steppers, maps, a run; the others run in kernels alone
SHOWN_THERE = ("01", "04", "11", "13", "14")
IN_BROWSER = [*(p.name for p in ENGLISH if p.name.startswith(SHOWN_THERE)), "zh/04_where_gradients_meet.ipynb"]
LARGEST = 740_000  # bytes
OF_A_MACHINE = re.compile("/tmp/|/home/|ipykernel|0x7f[0-9a-f]{8}")
# what people believe, and the notebook that shows what is true; its cells carry the tag
MISCONCEPTIONS = {
    "M01": ("02", "every tensor with requires_grad=True gets a grad"),
    "M02": ("03", "I made w with requires_grad=True, so w is the parameter"),
    "M03": ("03", "a leaf is what I typed in"),
    "M04": ("05", "the 0 in (AccumulateGrad, 0) is a gradient"),
    "M05": ("04", "using x twice gives two gradient slots"),
    "M06": ("04", "backward walks every path"),
    "M07": ("04", "backward sets grad"),
    "M08": ("04", "None and 0 are the same"),
    "M09": ("06", "after backward the graph is gone"),
    "M10": ("06", "retain_graph, create_graph and retain_grad are one switch"),
    "M11": ("07", "in-place ops are forbidden, or always fine"),
    "M12": ("09", "w = w - lr * w.grad updates the parameter"),
    "M13": ("07", ".data and detach() are the same"),
    "M14": ("03", "detach() copies, and stops all gradients"),
    "M15": ("03", "eval(), no_grad(), requires_grad=False and detach() all turn gradients off"),
    "M16": ("01", "the graph is a description of my code"),
    "M17": ("05", "backward() of a vector gives the Jacobian"),
    "M18": ("08", "a tensor hook only looks"),
    "M19": ("11", "if the code runs, the gradient is connected"),
    "M20": ("06", "where protects from the branch not taken"),
    "M21": ("05", "the gradient of a broadcast tensor has the broadcast shape"),
    "M22": ("11", "total += loss only adds a number"),
    "M23": ("07", "writing into a slice does not touch the graph"),
    "M24": ("08", "editing a gradient in place in a hook is the same as returning one"),
}


def name_of(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]


@pytest.mark.torch
def test_stored_outputs_are_what_running_gives() -> None:
    """Of those that tests/browser/test_notebooks.py does not run, which looks at the outputs of all others. (Kernels start.)"""
    chinese = [f"zh/{p.name}" for p in CHINESE]  # the same programs: one of them runs; with --thorough all do
    names = [*(p.name for p in ENGLISH), *(chinese if effort.THOROUGH else chinese[-2:-1])]
    rest = [name for name in names if name not in IN_BROWSER]
    command = [sys.executable, ROOT / ".ci" / "store_outputs.py", "--check", *rest]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_notebook_runs_without_pytorch_and_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    path_list = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    paths = [*ENGLISH, CHINESE[0]]  # the other Chinese ones run the same programs, in other words
    command = [sys.executable, "-m", "tests.notebook_cells", *map(str, paths)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path_list}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert [name_of(Path(p)) for p, text in said.items() if "%pip install torch" not in text] == []


def test_there_are_eighteen_and_seven_of_them_in_chinese() -> None:
    assert [p.name[:2] for p in ENGLISH] == [f"{k:02}" for k in range(1, 19)]
    assert [p.name for p in CHINESE] == [p.name for p in (*ENGLISH[:5], ENGLISH[12], ENGLISH[16])]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_notebook_predicts_steps_compares_and_breaks(path: Path) -> None:
    source = "\n".join(c.source for c in code_cells(path))
    headings = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
    assert source.count("ask.") >= 3 and ("av.step(" in source or "run.step(" in source or path.name.startswith("11"))
    assert "for lib in both():" in source or path.name.startswith("12")
    assert "av.explain(" in source or "av.check(" in source
    assert any(line.startswith(("## Break it", "## 弄坏它")) for text in headings for line in text.split("\n"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_every_picture_is_stored_as_svg_and_every_question_as_text(path: Path) -> None:
    """A reader on GitHub sees every figure, every stepper and what is asked."""
    for cell in code_cells(path):
        last = cell.source.strip().split("\n")[-1]
        kinds = {kind for o in cell.outputs for kind in o.get("data", {})}
        if last.startswith(("av.show(", "av.step(", "av.map(")) or last in ("stepper", "both_steppers", "close_up", "answer"):
            assert "image/svg+xml" in kinds, last
        if last.startswith("ask."):
            assert "text/html" in kinds, last


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_a_stored_notebook_is_small_clean_and_of_no_machine(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    assert not [o for c in code_cells(path) for o in c.outputs if o.output_type == "error" or o.get("name") == "stderr"]
    assert not [c.source for c in code_cells(path) if OF_A_MACHINE.search(str(c.outputs))]


@pytest.mark.parametrize("belief", MISCONCEPTIONS)
def test_every_misconception_is_made_visible(belief: str) -> None:
    """Somewhere a reader is asked about it, and sees a picture or an explanation of it."""
    number, _ = MISCONCEPTIONS[belief]
    path = next(p for p in ENGLISH if p.name.startswith(number))
    cells = [c for c in code_cells(path) if belief in c.metadata.get("tags", [])]
    source = "\n".join(c.source for c in cells)
    kinds = {kind for c in cells for o in c.outputs for kind in o.get("data", {})}
    assert "ask." in source
    assert "image/svg+xml" in kinds or "av.explain(" in source


class WithoutWords(ast.NodeTransformer):
    """Texts and the choice of a language taken out of a program."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return ast.Tuple([self.visit(v.value) for v in node.values if isinstance(v, ast.FormattedValue)], ast.Load())

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if "set_language" in ast.dump(node) else self.generic_visit(node)  # type: ignore[return-value]


@pytest.mark.parametrize("path", CHINESE, ids=name_of)
def test_the_chinese_notebooks_run_the_same_programs(path: Path) -> None:
    programs = [
        [ast.dump(WithoutWords().visit(ast.parse(c.source))) for c in code_cells(p)] for p in (FOLDER / path.name, path)
    ]
    assert programs[0] == programs[1]
