"""`autograd-viz watch`: which models are watched, from which step on, and what is kept when a program ends early."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from autograd_viz import cli


@pytest.fixture(autouse=True)
def own_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' __main__ comes back: the command makes its process that of the script."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])


BOTH = pytest.mark.parametrize("library", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
HEAD = """
import {library} as lib
nn, optim = lib.nn, lib.optim
lib.manual_seed(0)
x = lib.randn(8, 2)

def step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
# each program, and what is watched: name (class), steps
PROGRAMS = {
    "two models take turns": (
        """
        A, B = nn.Linear(2, 1), nn.Linear(2, 1)
        oa, ob = (optim.SGD(m.parameters(), lr=0.1) for m in (A, B))
        for _ in range(3):
            for m, o in ((A, oa), (B, ob)):
                step(o, m(x).pow(2).mean())
        """,
        ["A (Linear), 3 steps", "B (Linear), 3 steps"],
    ),
    "a gan": (
        """
        def main():
            G, D = nn.Linear(2, 2), nn.Linear(2, 1)
            og, od = optim.Adam(G.parameters(), lr=0.1), optim.Adam(D.parameters(), lr=0.1)
            for _ in range(3):
                fake = G(x)
                step(od, nn.functional.softplus(-D(x)).mean() + nn.functional.softplus(D(fake.detach())).mean())
                step(og, nn.functional.softplus(-D(fake)).mean())
        main()
        """,
        ["G (Linear), 3 steps", "D (Linear), 3 steps"],
    ),
    "actor and critic, one pass": (
        """
        class Agent:
            def __init__(self):
                self.actor, self.critic = nn.Linear(2, 1), nn.Sequential(nn.Linear(2, 1))
                self.optimizers = [optim.SGD(m.parameters(), lr=0.1) for m in (self.actor, self.critic)]
            def learn(self):
                loss = (self.actor(x) * self.critic(x).detach()).mean() + self.critic(x).pow(2).mean()
                for o in self.optimizers:
                    o.zero_grad()
                loss.backward()
                for o in self.optimizers:
                    o.step()
        agent = Agent()
        for _ in range(2):
            agent.learn()
        """,
        ["self.actor (Linear), 2 steps", "self.critic (Sequential), 2 steps"],
    ),
    "one model, two optimizers": (
        """
        model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        first, second = (optim.SGD(part.parameters(), lr=0.1) for part in model)
        for _ in range(3):
            first.zero_grad()
            step(second, model(x).pow(2).mean())
            first.step()
        """,
        ["model (Sequential), 3 steps"],
    ),
    "two models, one optimizer": (
        """
        encoder, head = nn.Linear(2, 3), nn.Linear(3, 1)
        o = optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
        for _ in range(3):
            step(o, head(encoder(x)).pow(2).mean())
        """,
        ["encoder (Linear), 3 steps", "head (Linear), 3 steps"],
    ),
    "an optimizer that is made after the pass": (
        """
        model = nn.Linear(2, 1)
        for _ in range(3):
            model(x).pow(2).mean().backward()
            optim.SGD(model.parameters(), lr=0.1).step()
        """,
        ["model (Linear), 3 steps"],
    ),
    "a second model begins late": (
        """
        A, B = nn.Linear(2, 1), nn.Linear(2, 1)
        oa = optim.SGD(A.parameters(), lr=0.1)
        for k in range(4):
            step(oa, A(x).pow(2).mean())
            loss = B(x).pow(2).mean()
            if k == 2:
                ob = optim.SGD(B.parameters(), lr=0.1)
            if k > 1:
                step(ob, loss)
        """,
        ["A (Linear), 4 steps", "B (Linear), 2 steps"],
    ),
    "models in models, and one that is not trained": (
        """
        class Outer(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
            def forward(self, x):
                return self.inner(x)
        teacher, model = nn.Linear(2, 2), Outer()
        o = optim.SGD(model.inner.parameters(), lr=0.1)
        for _ in range(3):
            step(o, (model(x) - teacher(x).detach()).pow(2).mean())
        """,
        ["model (Outer), 3 steps"],
    ),
    "a closure": (
        """
        model = nn.Linear(2, 1)
        o = optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)
        def closure():
            o.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            return loss
        for _ in range(3):
            o.step(closure)
        """,
        ["model (Linear), 3 steps"],
    ),
    "an optimizer of no module, one of a frozen module, and one that never steps": (
        """
        frozen, idle, model = nn.Linear(2, 2).requires_grad_(False), nn.Linear(2, 2), nn.Linear(2, 1)
        w = lib.ones(2).requires_grad_()
        o = optim.SGD([w], lr=0.1)
        step(o, (w * w).sum())
        others = optim.SGD(frozen.parameters(), lr=0.1), optim.SGD(idle.parameters(), lr=0.1)
        others[0].step()
        o = optim.SGD([w, *model.parameters()], lr=0.1)
        step(o, model(frozen(x) * w).pow(2).mean())
        """,
        ["model (Linear), 1 step"],
    ),
}


def watch(folder: Path, program: str, library: str, *options: str) -> int:
    (folder / "train.py").write_text(HEAD.format(library=library) + dedent(program))
    return cli.main(["watch", str(folder / "train.py"), "-o", str(folder / "run.json"), *options])


def told(said: str) -> list[str]:
    return re.findall(r"run[\d.]*\.json: (.*)", said)


@BOTH
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_model_is_watched_from_its_first_step_on(
    library: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    program, expected = PROGRAMS[name]
    assert watch(tmp_path, program, library) == 0
    assert told(capsys.readouterr().out) == expected
    watched, plain = numbers(vars(sys.modules["__main__"])), dict[str, Any]()
    exec(HEAD.format(library=library) + dedent(program), plain)
    assert watched == numbers(plain)


def numbers(names: dict[str, Any]) -> list[Any]:
    """The parameters of all modules, and random numbers that come next."""
    modules = [m for name, m in names.items() if isinstance(m, names["nn"].Module)]
    return [*(p.tolist() for m in modules for p in m.parameters()), names["lib"].rand(1).item()]


# the gradient of sqrt(0) times 0
BROKEN = {
    "the only optimizer": (
        """
        model = nn.Linear(2, 2)
        o = optim.SGD(model.parameters(), lr=0.1)
        step(o, model(x).mul(0).pow(2).sum(1).sqrt().mean())
        """,
        "no weight has moved in this step. It was born after the model",
    ),
    "in the model": (
        """
        class Distance(nn.Linear):
            def forward(self, x):
                return super().forward(x).mul(0).pow(2).sum(1).sqrt()
        model = Distance(2, 2)
        o = optim.SGD(model.parameters(), lr=0.1)
        step(o, model(x).mean())
        """,
        "no weight has moved in this step. It was born in the backward pass",
    ),
    "the second model's": (
        """
        first, model = nn.Linear(2, 2), nn.Linear(2, 2)
        a, b = (optim.SGD(m.parameters(), lr=0.1) for m in (first, model))
        step(a, first(x).pow(2).mean())
        step(b, model(x).mul(0).pow(2).sum(1).sqrt().mean())
        """,
        "no weight has moved in this step. It was born after the model",
    ),
    "the second optimizer's of a model": (
        """
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        a, b = (optim.SGD(m.parameters(), lr=0.1) for m in model)
        (model[0](x).pow(2).mean() + model[1](x).mul(0).pow(2).sum(1).sqrt().mean()).backward()
        a.step()
        b.step()
        """,
        "some weights have moved in this step. Where it was born cannot be said",
    ),
    "made after the pass": (
        """
        model = nn.Linear(2, 2)
        model(x).mul(0).pow(2).sum(1).sqrt().mean().backward()
        optim.SGD(model.parameters(), lr=0.1).step()
        """,
        "no weight has moved in this step. Where it was born cannot be said: RuntimeError: the pass of step 0 cannot run again",
    ),
    "in a closure": (
        """
        model = nn.Linear(2, 2)
        o = optim.LBFGS(model.parameters(), lr=0.1)
        def closure():
            o.zero_grad()
            loss = model(x).mul(0).pow(2).sum(1).sqrt().mean()
            loss.backward()
            return loss
        o.step(closure)
        """,
        "no weight has moved in this step. It was born after the model",
    ),
}


@BOTH
@pytest.mark.parametrize("name", BROKEN)
def test_nan_of_the_first_step_is_told_before_a_weight_moves(
    library: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(library)
    program, said = BROKEN[name]
    assert watch(tmp_path, program, library) == 1
    out, err = capsys.readouterr()
    assert said in err and "NotFiniteError: step 0: the gradient of " in err and "watch --no-stop" in err
    assert not any(bool(p.isnan().any()) for p in vars(sys.modules["__main__"])["model"].parameters())
    assert told(out)[-1].startswith("model (") and told(out)[-1].endswith(", 1 step")


ENDLESS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process of the background may not have it
model = nn.Linear(2, 1)
o = optim.SGD(model.parameters(), lr=0.001)
k = 0
while True:
    step(o, model(x).pow(2).mean())
    k += 1
    if k == 70:
        print("begun", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_training_that_is_ended_from_outside_is_kept(tmp_path: Path, number: str, code: int) -> None:
    """Takes seconds: a process is begun."""
    (tmp_path / "train.py").write_text(HEAD.format(library="autograd_viz") + ENDLESS)
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-m", "autograd_viz.cli", "watch", "train.py", "-o", "run.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(getattr(signal, number))
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (code, "")
    assert re.match(r"run\.json: model \(Linear\), [\d,]+ steps\n", out)
    assert json.loads((tmp_path / "run.json").read_text())["steps"] >= 70


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_of_the_program_ends_as_it_would(tmp_path: Path) -> None:
    program = """
    import os, signal, time
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, b"begun")
        time.sleep(60)
        os._exit(3)
    os.read(read, 5)
    os.kill(child, signal.SIGTERM)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    """
    assert watch(tmp_path, program, "autograd_viz") == 0
    assert vars(sys.modules["__main__"])["ended"] == -signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize(
    ("output", "code", "said"), [("none/run.html", 1, "does not exist"), ("run.exe", 2, ".svg, .png, .pdf")]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, code: int, said: str
) -> None:
    (tmp_path / "train.py").write_text("raise SystemExit(7)")
    assert cli.main(["watch", str(tmp_path / "train.py"), "-o", str(tmp_path / output)]) == code
    assert said in capsys.readouterr().err
    assert cli.main(["merge", str(tmp_path), "-o", str(tmp_path / "none" / "job.csv")]) == 1
    assert "does not exist" in capsys.readouterr().err


@BOTH
def test_a_loss_is_that_of_the_model_s_own_pass(library: str, tmp_path: Path) -> None:
    """Both passes run before both optimizers step; an auxiliary pass comes last."""
    pytest.importorskip(library)
    program = """
    actor, critic, other = nn.Linear(2, 1), nn.Linear(2, 1), nn.Linear(2, 1)
    optimizers = [optim.SGD(m.parameters(), lr=0.1) for m in (actor, critic)]
    told = []
    for _ in range(3):
        losses = actor(x).pow(2).mean(), (critic(x) - 5).pow(2).mean(), (critic(x) - 4).pow(2).mean()
        for o in optimizers:
            o.zero_grad()
        for loss in (*losses, other(x).sum()):
            loss.backward()
        for o in optimizers:
            o.step()
        told.append([loss.item() for loss in losses])
    """
    assert watch(tmp_path, program, library) == 0
    first, _, last = zip(*vars(sys.modules["__main__"])["told"], strict=True)
    for name, losses, passes in (("run.json", first, 1), ("run.2.json", last, 2)):
        totals = json.loads((tmp_path / name).read_text())["totals"]
        assert totals["loss"] == pytest.approx(losses, rel=1e-6) and totals["passes"] == [passes] * 3


@BOTH
def test_a_model_that_is_called_in_parts_has_the_loss_of_every_pass(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    program = """
    model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 1)})
    o = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model["b"](model["a"](x)).pow(2).mean()
        step(o, loss)
    """
    assert watch(tmp_path, program, library) == 0
    totals = json.loads((tmp_path / "run.json").read_text())["totals"]
    assert totals["loss"][1] == pytest.approx(vars(sys.modules["__main__"])["loss"].item(), rel=1e-6)
    assert totals["passes"] == [1, 1]


def test_what_is_odd_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, output = tmp_path / "train.py", tmp_path / "run.json"
    script.write_text(
        HEAD.format(library="autograd_viz") + "net = nn.Linear(2, 1)\nstep(optim.SGD(net.parameters(), lr=0.1), net(x).sum())\n"
    )
    assert cli.main(["watch", str(script), "-o", str(output), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["model"], told["class"], told["steps"]) == (str(output), "net", "Linear", 1)
