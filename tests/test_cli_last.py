"""`autograd-viz step`, `term`, `render`, `explain` of a program that has trained, or that an error has ended."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from autograd_viz import cli

BOTH = pytest.mark.parametrize("library", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
TRAINED = """
import {library} as lib
nn = lib.nn
lib.manual_seed(0)
grads = []

def main():
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1, bias=False))
    optimizer = lib.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    x = lib.randn(4, 2)
    for _ in range(4):
        loss = model(x).pow(2).mean()
        {zero}
        loss.backward()
        optimizer.step()
    return model, model[2].weight.detach().clone(), model[2].weight.grad.clone(), loss

{result} = main()
"""


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' __main__ comes back: the command makes its process that of the script."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr("webbrowser.open", lambda uri: True)


def term(script: Path, monkeypatch: pytest.MonkeyPatch, keys: str, *options: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(keys)))
    return cli.main(["term", str(script), *options])


@BOTH
@pytest.mark.parametrize("zero", ["optimizer.zero_grad()", "pass"])
@pytest.mark.parametrize("result", ["model, weight, grad, loss", "model, weight, grad, _"])
def test_the_last_pass_of_a_training_is_stepped_with_the_numbers_that_it_had(
    library: str, result: str, zero: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a loss at the end of the script, too, and where gradients are added up."""
    pytest.importorskip(library)
    (script := tmp_path / "train.py").write_text(TRAINED.format(library=library, result=result, zero=zero))
    assert term(script, monkeypatch, "fbq") == 0
    said = capsys.readouterr().out.split("q quit\n")[1]
    names = vars(sys.modules["__main__"])
    end = re.findall(r"model\.2\.weight .*\] +(\[\[.*\]\]) +(\[\[.*\]\])", said)
    assert json.loads(end[0][1])[0] == pytest.approx(names["grad"].tolist()[0], rel=1e-5)
    assert json.loads(end[0][0])[0] != pytest.approx(names["weight"].tolist()[0], rel=1e-2)  # before the optimizer's step
    assert names["model"][2].weight.tolist() == names["weight"].tolist()
    assert names["model"][2].weight.grad.tolist() == names["grad"].tolist()


@BOTH
@pytest.mark.parametrize("words", [["step"], ["render", "-o", "x.svg", "--step", "final"], ["render", "-o", "x.gif"]])
def test_a_finished_training_is_drawn(library: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(
        TRAINED.format(library=library, result="model, weight, grad, loss", zero="optimizer.zero_grad()")
    )
    assert cli.main([words[0], "train.py", *words[1:]]) == 0


TWO = """
import {library} as lib
w = lib.tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum()
loss.backward()
other = (w * 3).exp()
gradient = lib.tensor([1.0, 10.0])
other.backward(gradient)
"""


@BOTH
def test_of_several_passes_the_last_is_shown_and_an_earlier_one_is_refused(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    (script := tmp_path / "train.py").write_text(TWO.format(library=library))
    assert term(script, monkeypatch, "fq") == 0
    out, err = capsys.readouterr()
    assert err == "autograd-viz: the graph of loss was freed; this is the last backward pass of the program\n"
    assert "[2.0, 4.0]" in out.split("q quit")[0] and "[62.2566, 12106.9]" in out.split("q quit")[1]
    assert term(script, monkeypatch, "fq", "--name", "loss") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"autograd-viz: {script} already called backward()") and said.count("\n") == 1
    line = re.findall("put the line `(.*)` above the call", said)[0]
    script.write_text(script.read_text().replace("loss.backward()", f"{line}\nloss.backward()"))
    assert term(script, monkeypatch, "fq", "--name", "loss") == 0


@BOTH
def test_what_is_kept_for_the_command_is_not_seen_by_the_program(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    program = TWO + "message = ''\ntry:\n    loss.backward()\nexcept RuntimeError as error:\n    message = str(error)\n"
    (tmp_path / "train.py").write_text(program.format(library=library))
    assert cli.main(["render", str(tmp_path / "train.py"), "-o", str(tmp_path / "x.svg"), "--name", "other"]) == 0
    names = vars(sys.modules["__main__"])
    assert "backward through the graph a second time" in names["message"]
    assert names["w"].grad.tolist() == pytest.approx([62.2566, 12106.873], rel=1e-5)


RAISED = """
import {library} as lib
w = lib.tensor([1.0, 2.0], requires_grad=True)
y = w.exp()
y.add_(1.0)
y.sum().backward()
"""


@BOTH
@pytest.mark.parametrize("words", [[], ["w"]])
@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_explain_of_a_program_that_raises_tells_the_cause_after_the_traceback(
    library: str, words: list[str], suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    code = RAISED.format(library=library)
    (script := tmp_path / f"train{suffix}").write_text(code if suffix == ".py" else notebook(code))
    assert cli.main(["explain", str(script), *words]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("Traceback") and "modified by an inplace operation" in err
    line = "train.py, line 5" if suffix == ".py" else "train.ipynb, cell 1, line 4"
    assert out.startswith("A tensor that exp() saved") and f"was modified in place ({line})" in out and "→" in out


def test_explain_of_an_error_that_it_does_not_know_says_so_and_exit_is_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (script := tmp_path / "train.py").write_text("import autograd_viz as av\nw = av.ones(1)\nraise KeyError('a')\n")
    assert cli.main(["explain", str(script), "w"]) == 1
    out, err = capsys.readouterr()
    assert err.endswith("KeyError: 'a'\n") and "no more about this error" in out
    script.write_text("raise SystemExit(3)")
    assert cli.main(["explain", str(script), "w"]) == 3
    assert capsys.readouterr().out == ""
    script.write_text("import autograd_viz as av\nw = av.ones(1)\n")
    assert cli.main(["explain", str(script)]) == 2
    assert "raised no error; name the tensor" in capsys.readouterr().err
    script.write_text("import autograd_viz as av\nw = av.ones(1, requires_grad=True)\nloss = (w * 0).sum()\nloss.backward()\n")
    assert cli.main(["explain", str(script)]) == 0
    assert capsys.readouterr().out.startswith("w.grad is all zero: mul multiplies by 0")


FAULTS = """
import {library} as torch
net, x = torch.nn.Linear(4, 3), torch.ones(2, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = torch.nn.functional.cross_entropy(net(x){squashed}, torch.tensor([0, 2]))
    {first}
    loss.backward()
    optimizer.step()
"""


@BOTH
def test_explain_without_a_tensor_says_what_check_found(
    library: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    script = tmp_path / "train.py"
    script.write_text(FAULTS.format(library=library, squashed=".softmax(1)", first=""))
    assert cli.main(["explain", str(script)]) == 0
    first, advice, other = capsys.readouterr().out.splitlines()
    assert first.startswith("log_softmax, as in cross_entropy, takes logits") and advice == "→ Leave softmax out."
    assert other.startswith("train.py:8: AV405 may be a fault: its gradient is the sum of 3 passes")
    assert cli.main(["explain", str(script), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["causes"][0]["check"], [f["code"] for f in told["others"]]) == ("AV201", ["AV405"])
    script.write_text(FAULTS.format(library=library, squashed="", first="net.zero_grad()"))
    assert cli.main(["explain", str(script)]) == 0
    assert capsys.readouterr().out == "Nothing stands out (2 looked at).\n"


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": [cell]} for cell in cells]})


@BOTH
def test_a_pass_with_a_pass_inside_is_stepped(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    program = f"""
import {library} as lib
from {library}.utils.checkpoint import checkpoint
w = lib.tensor([1.0, 2.0], requires_grad=True)
loss = checkpoint(lambda v: v.exp() * v, w * 2, use_reentrant=True).sum()
loss.backward()
"""
    (script := tmp_path / "train.py").write_text(program)
    assert term(script, monkeypatch, "fq") == 0


@BOTH
def test_a_scale_that_changes_after_the_pass_is_put_back(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    program = f"""
import {library} as lib
w = lib.tensor([1.0, 2.0], requires_grad=True)
optimizer = lib.optim.SGD([w], lr=0.1)
scaler = lib.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)
loss = (w * w).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
assert scaler.get_scale() == 8.0
"""
    (script := tmp_path / "train.py").write_text(program)
    assert term(script, monkeypatch, "fq") == 0
    assert "[8.0, 16.0]" in capsys.readouterr().out.split("q quit")[1]


@BOTH
def test_check_tells_what_is_wrong_with_a_run_and_its_exit_code_says_whether_it_is_certain(
    library: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    (script := tmp_path / "train.py").write_text(CHECKED.format(library=library, squash=".softmax(1)"))
    assert cli.main(["check", str(script)]) == 1
    assert capsys.readouterr().out.startswith("train.py:4: AV201 ")
    assert cli.main(["check", str(script), "--json", "--ignore", "AV201,AV3"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert cli.main(["check", str(script), "--select", "AV999"]) == 2
    script.write_text(CHECKED.format(library=library, squash=""))
    assert cli.main(["check", str(script)]) == 0
    assert capsys.readouterr().out == "Nothing stands out.\n"
    script.write_text(RAISED.format(library=library))
    assert cli.main(["check", str(script)]) == 1
    assert "train.py:5: AV901 " in capsys.readouterr().out


CHECKED = """import {library} as torch
net = torch.nn.Linear(4, 3)
def main():
    loss = torch.nn.functional.cross_entropy(net(torch.randn(2, 4)){squash}, torch.tensor([0, 2]))
    loss.backward()
    return loss
loss = main()
"""
