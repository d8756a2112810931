"""The commands `memory` and `diff`; and `check` of a run that ends in nan."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograd_viz import cli


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' __main__ comes back: the command makes its process that of the script."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])


HEAD = "import autograd_viz as av\nfrom helper import FACTOR\nw = av.tensor([1.0, 2.0], requires_grad=True)\n"
PASS = HEAD + "loss = (w * FACTOR).exp().sum()\n"
LAYERS = """
layers = [av.nn.Sequential(av.nn.Linear(4, 32), av.nn.Tanh(), av.nn.Linear(32, 4)) for _ in range(4)]
net = av.nn.Sequential(*layers)
loss = net(av.ones(64, 4)).square().mean()
"""
TRAINS = (
    HEAD
    + """
net = av.nn.Linear(2, 1)
opt = av.optim.SGD(net.parameters(), lr=0.1 * FACTOR)
for _ in range(4):
    loss = net(av.ones(3, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("trained")
"""
)


def script(tmp_path: Path, name: str, text: str, factor: float) -> str:
    """A script in a folder of its own, beside a module that each has under the same name."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "helper.py").write_text(f"FACTOR = {factor}\n")
    path = tmp_path / name / f"{name}.py"
    path.write_text(text)
    return str(path)


def test_memory_tells_the_largest_blocks_of_a_pass_that_has_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = script(tmp_path, "a", PASS + "loss.backward()\n", 2.0), tmp_path / "a.html"
    assert cli.main(["memory", path, "-o", str(page)]) == 0
    first, *blocks = capsys.readouterr().out.splitlines()
    assert "saved tensor" in first and blocks[0].split()[:2] == ["8", "B"] and blocks[0].endswith("a.py:4") and page.exists()
    assert cli.main(["memory", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    assert cli.main(["memory", path, "-o", "a.csv"]) == 2
    capsys.readouterr()


def test_memory_tells_a_plan_for_a_budget_as_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(tmp_path, "a", HEAD + LAYERS, 2.0)
    assert cli.main(["memory", path, "--budget", "40 kB"]) == 0
    said = capsys.readouterr().out
    assert "lowers the peak" in said and said.splitlines()[-1].startswith("checkpoint(net[")
    assert cli.main(["memory", path, "--budget", "40 kB", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["budget"] == 40_000
    assert cli.main(["memory", path, "--budget", "much"]) == 1 and "--budget must be a number" in capsys.readouterr().err


TIMED = """
import torch
net = torch.nn.Linear(8, 8)
for _ in range(2):
    loss = net(torch.ones(4, 8)).square().mean()
    loss.backward()
"""


@pytest.mark.torch
def test_time_tells_where_the_last_backward_pass_spends_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("autograd_viz.sources.pytorch.timing.measure.ENOUGH", 0.0)
    (path := tmp_path / "train.py").write_text(TIMED)
    assert cli.main(["time", str(path), "-o", str(tmp_path / "t.html")]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("Backward ") and "AddmmBackward0" not in first and any("Addmm" in line for line in rest)
    assert cli.main(["time", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cpu" and (tmp_path / "t.html").exists()


def test_diff_runs_each_script_with_its_own_modules(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = script(tmp_path, "a", PASS, 2.0), script(tmp_path, "b", PASS, 3.0)
    assert cli.main(["diff", a, b, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["sentences"][0].startswith("The first value that differs is ")


def test_diff_compares_what_two_scripts_have_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(command: list[str], **_: object) -> object:  # in this process, which is quicker
        monkeypatch.delitem(sys.modules, "helper", raising=False)
        return SimpleNamespace(returncode=cli.main(command[3:]))

    monkeypatch.setattr("subprocess.run", run)
    a, b, page = script(tmp_path, "a", TRAINS, 1.0), script(tmp_path, "b", TRAINS, 2.0), tmp_path / "d.html"
    assert cli.main(["diff", a, b, "-o", str(page)]) == 0
    said = capfd.readouterr()
    assert "lr differs: 0.1 in a, 0.2 in b." in said.out and page.exists()


def test_what_cannot_be_compared_is_said_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    a, b = script(tmp_path, "a", PASS, 2.0), script(tmp_path, "b", "raise ValueError('no')\n", 3.0)
    for words, code, said in (
        (["diff", a], 2, "the second is missing"),
        (["diff", a, "none.py"], 2, "cannot read none.py"),
        (["diff", b, a], 1, "b.py gave nothing to compare"),
        (["diff", a, a, "-o", "d.csv"], 2, ".svg"),
    ):
        assert cli.main(words) == code
        assert said in capfd.readouterr().err.splitlines()[-1]


NAN = """
import {library} as lib
net = lib.nn.Linear(2, 1)
opt = lib.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = (net(lib.ones(3, 2)) * 0).log().sum()
    opt.zero_grad()
    loss.backward()
    {step}
print("the end")
"""


@pytest.mark.parametrize("library", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("command", ["check", "explain"])
def test_the_first_nan_stops_a_script_and_its_op_is_named(
    command: str, library: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    (path := tmp_path / "train.py").write_text(NAN.format(library=library, step="opt.step()"))
    assert cli.main([command, str(path)]) == 1
    out, err = capsys.readouterr()
    assert "log" in out and "train.py" in out and "itself holds" not in out and "the end" not in out
    assert err.startswith("step 0: the gradient of weight is nan") and "Traceback" not in err


def test_a_script_that_skips_such_a_step_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path := tmp_path / "train.py").write_text(NAN.format(library="autograd_viz", step="opt.zero_grad()"))
    assert cli.main(["check", str(path)]) in (0, 1)
    assert "the end" in capsys.readouterr().out
