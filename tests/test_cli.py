"""The command."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograd_viz import cli
from autograd_viz.cli import lab
from autograd_viz.cli.gallery import PICTURES
from autograd_viz.cli.program import run_program


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' __main__ comes back: the command makes its process that of the script."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])


def test_lab_opens_the_first_notebook_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))  # where it signs them
    ran: list[list[str]] = []
    popen = lab.subprocess.Popen
    monkeypatch.setattr(lab.subprocess, "Popen", lambda command: ran.append(command) or popen([sys.executable, "-c", ""]))
    assert cli.main(["lab", "--no-browser"]) == 0
    (command,) = ran
    assert command[1:3] == ["-m", "jupyterlab"] and command[-1] == "--no-browser"
    assert "--LabApp.default_url=/lab/tree/01_one_multiplication.ipynb" in command


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """The package in a folder without notebooks; pip says where it came from."""
    monkeypatch.setattr(lab, "__file__", str(tmp_path / "lib" / "autograd_viz" / "cli" / "lab.py"))

    def came_from(origin: str) -> None:
        distribution = SimpleNamespace(read_text=lambda name: origin)
        monkeypatch.setattr(lab.metadata, "distribution", lambda name: distribution)

    return came_from


def test_lab_finds_the_clone_that_was_installed_or_is_the_current_folder(
    tmp_path: Path, installed: Callable[[str], None]
) -> None:
    clone, wheel = tmp_path / "a clone", tmp_path / "x.whl"
    for folder in (clone, tmp_path / "here"):
        (folder / "notebooks").mkdir(parents=True)
        (folder / "notebooks" / lab.FIRST).write_text("{}")
    installed(json.dumps({"url": clone.as_uri(), "dir_info": {}}))
    assert lab.notebooks_folder(tmp_path) == clone / "notebooks"
    installed(json.dumps({"url": wheel.as_uri(), "archive_info": {}}))
    assert lab.notebooks_folder(tmp_path / "here") == tmp_path / "here" / "notebooks"


@pytest.mark.parametrize(
    "origin", ["", '{"url": "file:///gone", "dir_info": {}}', '{"url": "file:///x.whl", "archive_info": {}}']
)
def test_lab_of_a_wheel_says_where_notebooks_are(tmp_path: Path, installed: Callable[[str], None], origin: str) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "mine.ipynb").write_text("{}")
    installed(origin)
    with pytest.raises(lab.CannotReadError, match=r"no notebooks .*: call autograd-viz lab in a clone"):
        lab.notebooks_folder(tmp_path)


def test_lab_without_jupyterlab_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["lab"]) == 1
    assert "pip install jupyterlab" in capsys.readouterr().err


def test_version_and_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(["--version"])
    assert done.value.code == 0 and capsys.readouterr().out.startswith("autograd-viz ")
    with pytest.raises(SystemExit) as failed:
        cli.main(["lba"])
    assert failed.value.code == 2 and "invalid choice: 'lba'" in capsys.readouterr().err


SCRIPT = """import sys
import autograd_viz as torch

w = torch.tensor(2.0, requires_grad=True)
x = torch.tensor(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
h = (w * x).relu()
loss = h * h
unused = torch.tensor(1.0, requires_grad=True)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_render_draws_the_loss_of_a_script(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = script.parent / "loss.svg"
    assert cli.main(["render", str(script), "-o", str(out), "--step", "final"]) == 0
    assert "tensor(36.)" in out.read_text()
    assert cli.main(["render", str(script), "-o", str(out), "--step", "1"]) == 0
    svg = out.read_text()
    assert ">loss</text>" in svg and "6.0" in svg and "lit" in svg
    assert capsys.readouterr().out.split() == [str(out)] * 2


def test_what_follows_goes_to_the_script(script: Path) -> None:
    out = script.parent / "loss.svg"
    assert cli.main(["render", str(script), "-o", str(out), "--name", "h", "--", "5"]) == 0
    assert "tensor(10.)" in out.read_text()


def test_a_notebook_is_run_without_its_magics(script: Path) -> None:
    cells = [{"cell_type": "markdown", "source": ["# x"]}, {"cell_type": "code", "source": ["%matplotlib inline\n", SCRIPT]}]
    notebook = script.with_suffix(".ipynb")
    notebook.write_text(json.dumps({"cells": cells}))
    assert run_program(notebook, [])["loss"].item() == 36.0


def test_what_only_looks_like_a_magic_is_python(script: Path) -> None:
    sources = [
        "import autograd_viz as av\na = av.tensor(7.0, requires_grad=True)",
        "z=(a * a\n  % 4\n)",
        's = """a\n%b\n!c"""',
        "%%bash\necho no python",
        "%%time\nloss = z + len(s)",
        "files = !ls\nz?",
        "%time w = z * 2\ntwice = %time w + 1",
        "get_ipython().run_line_magic('matplotlib', 'inline')",
    ]
    notebook = script.with_suffix(".ipynb")
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [source]} for source in sources]}))
    found = run_program(notebook, [])
    assert (found["loss"].item(), found["files"], found["twice"].item()) == (8.0, [], 3.0)


@pytest.mark.parametrize("encoded", [b"\xef\xbb\xbf%s", b"# -*- coding: latin-1 -*-\n# caf\xe9\n%s"])
def test_a_script_may_say_its_encoding(script: Path, encoded: bytes) -> None:
    script.write_bytes(encoded % SCRIPT.encode())
    assert run_program(script, [])["loss"].item() == 36.0


def test_a_script_that_moves_about_writes_where_the_user_is(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(script.parent)
    script.write_text(f"import os\nos.mkdir('sub'); os.chdir('sub')\n{SCRIPT}")
    assert cli.main(["render", script.name, "-o", "x.svg"]) == 0
    assert (script.parent / "x.svg").exists()


def test_a_script_that_raises_shows_its_own_traceback(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("def f():\n    return 1 / 0\nf()\n")
    assert cli.main(["render", str(script), "-o", "x.svg"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback") and "ZeroDivisionError" in said and "cli" not in said and "line 3" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "x = 1\ndef f(:\n",
            """  File "{script}", line 2
    def f(:
          ^
SyntaxError: invalid syntax
""",
        ),
        (
            "import autograd_viz as av\nav.ones(2, 3) @ av.ones(2, 3)\n",
            """Traceback (most recent call last):
  File "{script}", line 2, in <module>
    av.ones(2, 3) @ av.ones(2, 3)
    ~~~~~~~~~~~~~~^~~~~~~~~~~~~~~
RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
""",
        ),
    ],
)
def test_an_error_of_a_script_is_told_as_python_tells_it(
    script: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    script.write_text(text)
    assert cli.main(["render", str(script), "-o", "x.svg"]) == 1
    assert capsys.readouterr().err == said.format(script=script)


@pytest.mark.torch
def test_an_error_in_pytorch_shows_no_line_of_the_recorder(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    script.write_text("import torch\ntorch.ones(2, 3) @ torch.ones(2, 3)\n")
    assert cli.main(["render", str(script), "-o", "x.svg"]) == 1
    said = capsys.readouterr().err
    assert re.findall(r'File "(.*)", line', said) == [str(script)] and said.endswith("(2x3 and 2x3)\n")


def test_a_script_s_annotations_are_its_own(script: Path) -> None:
    """The files of this package say `from __future__ import annotations`; a script that does not is compiled without."""
    script.write_text("class Point:\n    x: int\n")
    assert run_program(script, [])["Point"].__annotations__ == {"x": int}


NO_NOTEBOOK = [b'{"cells": [', b"[1]", b"3", b"{}", b'{"cells": [{"cell_type": "code"}]}', b"\xff\xfe{\0", b"[" * 100_000]


@pytest.mark.parametrize("content", NO_NOTEBOOK, ids=range(len(NO_NOTEBOOK)))
def test_what_is_no_notebook_is_told_in_a_line(script: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    notebook = script.with_suffix(".ipynb")
    notebook.write_bytes(content)
    assert cli.main(["render", str(notebook), "-o", "x.svg"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"autograd-viz: cannot read {notebook}: it is not a Jupyter notebook") and said.count("\n") == 1


def test_what_is_no_script_is_told_in_a_line(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    paths = {script: "it is not a Python script", script.parent: "Is a directory", script.parent / "no.py": "No such file"}
    for path, reason in paths.items():
        assert cli.main(["step", str(path)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"autograd-viz: cannot read {path}: {reason}") and said.count("\n") == 1


def test_a_magic_s_body_that_raises_shows_the_user_s_lines_alone(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notebook = script.with_suffix(".ipynb")
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["%%time\n1 / 0"]}]}))
    assert cli.main(["render", str(notebook), "-o", "x.svg"]) == 1
    said = capsys.readouterr().err
    assert said.count("  File ") == 1 and "cell 1" in said and "line 2" in said and "ZeroDivisionError" in said


def test_a_name_that_is_not_there_lists_those_that_are(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["render", str(script), "-o", "x.svg", "--name", "y"]) == 2
    assert "no tensor called 'y'" in capsys.readouterr().err
    assert cli.main(["term", str(script.parent / "none.py")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_variable_that_no_code_can_name_is_drawn(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(SCRIPT + 'globals()["a b"] = loss * 2\ndel loss\n')
    out = script.parent / "x.svg"
    assert cli.main(["render", str(script), "-o", str(out)]) == 0
    assert ">a b</text>" in out.read_text() and capsys.readouterr().err == ""
    for words in (["render", str(script), "-o", str(out), "--name", "a-b"], ["explain", str(script), "a b"]):
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert said.startswith("autograd-viz: ") and said.count("\n") == 1


def test_what_cannot_be_written_is_said_before_the_script_runs(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("raise SystemExit(7)")
    for path, code, said in (("x.xyz", 2, ".svg, .png"), ("none/x.svg", 1, "does not exist")):
        assert cli.main(["render", str(script), "-o", str(script.parent / path)]) == code
        assert said in capsys.readouterr().err
    assert cli.main(["render", str(script), "-o", "x.svg", "--theme", "drak"]) == 2
    assert "light, dark, waite" in capsys.readouterr().err


def test_a_misspelt_option_does_not_go_to_the_script(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as failed:
        cli.main(["render", str(script), "-o", "x.svg", "--nmae", "h"])
    assert failed.value.code == 2 and "unrecognized arguments: --nmae h (arguments of the script" in capsys.readouterr().err


def test_an_error_is_one_line_whatever_it_quotes(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text(SCRIPT + "model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())\n")
    assert cli.main(["explain", str(script), "[model]"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_help_is_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["help"]) == 0
    assert "examples:" in capsys.readouterr().out
    assert cli.main(["help", "step"]) == 0
    assert "usage: autograd-viz step " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["help", "stp"])
    assert "invalid choice: 'stp' (choose from" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "examples:" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["explain", "--help"])
    assert "autograd-viz explain train.py w " in capsys.readouterr().out


def test_a_loss_inside_of_a_function_is_not_seen(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.write_text("import autograd_viz as av\ndef main():\n    loss = av.tensor(1.0, requires_grad=True) * 2\nmain()\n")
    assert cli.main(["render", str(script), "-o", "x.svg"]) == 2
    assert "variables inside functions are not visible" in capsys.readouterr().err


def test_term_steps_with_letters(script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nf\nb\nq\nn\n"))
    assert cli.main(["term", str(script)]) == 0
    pictures = capsys.readouterr().out.split("q quit\n")
    assert len(pictures) == 5 and "> MulBackward0" in pictures[0] and "* MulBackward0" in pictures[1]
    assert "w  [leaf, requires grad]" in pictures[2] and "36.0" in pictures[2].splitlines()[1]
    assert "None" in pictures[3].splitlines()[1]


def test_explain_answers_for_a_name(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", str(script), "h"]) == 0
    assert "not a leaf" in capsys.readouterr().out
    assert cli.main(["explain", str(script), "unused", "--name", "loss"]) == 0
    assert "unused.grad is None" in capsys.readouterr().out
    assert cli.main(["explain", str(script), "nothing"]) == 2


def test_step_writes_a_page_and_opens_it(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda uri: opened.append(uri) or True)
    assert cli.main(["step", str(script)]) == 0
    (uri,) = opened
    assert uri.startswith("file://") and "<!doctype html>" in Path(uri.removeprefix("file://")).read_text().lower()


def test_gallery_draws_its_pictures_into_a_new_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "folder"
    assert cli.main(["gallery", str(folder)]) == 0
    assert [Path(line) for line in capsys.readouterr().out.split()] == [folder / file for file in PICTURES]
    assert {p.name for p in folder.iterdir()} == {*PICTURES}


def test_escape_sequences_in_names_do_not_reach_the_terminal(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script.write_text(SCRIPT + 'globals()["a\\x1b[31m"] = w\ndel w\n')
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert cli.main(["term", str(script)]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "a\ufffd[31m" in said
