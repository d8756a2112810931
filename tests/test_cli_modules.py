"""Programs of other forms: modules of a package, and notebooks with what only notebooks have."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograd_viz import cli

from .test_cli_program import run


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The tests' __main__ comes back: the command makes its process that of the script."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    loop = asyncio._get_running_loop()  # that of a browser, if its tests have run in this process
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)


NET = """
import autograd_viz as av

def loss_of(w):
    return (w * w).sum()
"""
TRAIN = """
import sys
import autograd_viz as av
from . import net
from .net import loss_of
print(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0], sys.modules["__main__"].net is net)
w = av.ones(2, requires_grad=True)
loss = loss_of(w)
"""


def package(folder: Path) -> None:
    (folder / "pack" / "sub").mkdir(parents=True)
    texts = {"__init__": "", "sub/__init__": "", "net": NET, "sub/net": NET, "sub/train": TRAIN, "__main__": TRAIN}
    for path, text in texts.items():
        (folder / "pack" / f"{path}.py").write_text(text)


@pytest.mark.parametrize("name", ["pack.sub.train", "pack"])
def test_a_module_says_what_it_says_in_python(name: str, tmp_path: Path) -> None:
    """Takes seconds: processes are begun."""
    package(tmp_path)
    plain = run(tmp_path, "-m", name, "a", "--b")
    drawn = run(tmp_path, "-m", "autograd_viz.cli", "render", "-m", name, "-o", "x.svg", "--", "a", "--b")
    assert (plain.returncode, plain.stderr) == (drawn.returncode, drawn.stderr) == (0, "")
    assert drawn.stdout == plain.stdout + "x.svg\n" and (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-m", "pack.none"], 2, "autograd-viz: no module named 'pack.none'"),
        (["-m", "none.train"], 2, "autograd-viz: no module named 'none.train'"),
        (["-m", "pack.sub"], 2, "autograd-viz: no module named 'pack.sub'"),
        (["-m", "pack.bad.train"], 1, "ZeroDivisionError"),
        (["pack/sub/train.py"], 1, "a part of a package is run by the name of its module: -m package.train"),
    ],
)
@pytest.mark.filterwarnings("ignore:can't resolve package:ImportWarning")
def test_a_module_that_cannot_be_run_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    package(tmp_path)
    (tmp_path / "pack" / "bad").mkdir()
    (tmp_path / "pack" / "bad" / "__init__.py").write_text("1 / 0")
    assert cli.main(["render", *words, "-o", "x.svg"]) == code
    err = capsys.readouterr().err
    assert said in err and "autograd_viz" not in err
    for name in [n for n in sys.modules if n.partition(".")[0] == "pack"]:
        del sys.modules[name]


CELLS = [
    "import asyncio\nimport autograd_viz as av\nw = av.ones(2, requires_grad=True)",
    "async def data(k):\n    await asyncio.sleep(0)\n    return av.full((2,), float(k))",
    "task = asyncio.create_task(data(3))\nforgotten = asyncio.create_task(asyncio.sleep(60))",  # the loop runs in every cell
    "x = await task",
    "async with asyncio.timeout(60):\n    xs = [await data(k) for k in range(2)]",
    "%%time\ny = await data(5)",
    "%%record\nloss = (w * x * y).sum() + sum(xs).sum()",
    "display(loss)",
]


def notebook(*cells: str) -> Path:
    path = Path("train.ipynb")
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [cell]} for cell in cells]}))
    return path


def test_a_notebook_may_await(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["render", str(notebook(*CELLS)), "-o", "x.svg"]) == 0
    out, err = capsys.readouterr()
    assert out == "tensor(32., grad_fn=<AddBackward0>)\nx.svg\n" and err == ""


def test_an_error_in_a_notebook_that_awaits_shows_its_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook("import asyncio\nawait asyncio.sleep(0)", "async def f():\n    return 1 / 0", "x = await f()")
    assert cli.main(["render", str(path), "-o", "x.svg"]) == 1
    err = capsys.readouterr().err
    assert [line.strip() for line in err.splitlines() if "File" in line] == [
        'File "train.ipynb, cell 3", line 1, in <module>',
        'File "train.ipynb, cell 2", line 2, in f',
    ]
    assert cli.main(["render", str(notebook("import asyncio\nawait asyncio.sleep(0)", "exit(4)")), "-o", "x.svg"]) == 4
    assert cli.main(["render", str(notebook("await f()", "x = = 1")), "-o", "x.svg"]) == 1


def test_a_notebook_that_does_not_await_runs_its_own_loop(capsys: pytest.CaptureFixture[str]) -> None:
    program = "import asyncio\nimport autograd_viz as av\nasync def f():\n    return av.ones(1, requires_grad=True) * 2"
    assert cli.main(["render", str(notebook(program, "loss = asyncio.run(f())")), "-o", "x.svg"]) == 0


@pytest.mark.parametrize("command", ["watch", "step", "term", "explain"])
def test_a_notebook_is_taken_by_every_command(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda uri: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("f\nq\n"))
    cells = [
        "import asyncio\nimport autograd_viz as av\nmodel = av.nn.Linear(2, 1)\no = av.optim.SGD(model.parameters(), lr=0.1)",
        "for _ in range(2):\n    await asyncio.sleep(0)\n    loss = model(av.ones(3, 2)).pow(2).mean()\n"
        "    o.zero_grad()\n    loss.backward()\n    o.step()",
    ]
    options = {"watch": ["-o", "run.json"], "explain": ["model.weight"]}.get(command, [])
    assert cli.main([command, str(notebook(*cells)), *options]) == 0
    assert command != "watch" or "run.json: model (Linear), 2 steps" in capsys.readouterr().out
