"""The types of what is public: a type checker reads them from the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import autograd_viz as av

PROGRAM = """
import autograd_viz as av
from autograd_viz import nn, optim

x: av.Tensor = av.tensor([[1.0, 2.0]])
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)
loss = model(x).pow(2).sum()
with av.no_grad(), av.scope("shown"):
    av.show(loss, theme="dark")
stepper = av.step(loss)
stepper.finish()
sentence: str = stepper.sentence
av.save(stepper, "loss.svg")
print(av.explain(x, loss))
"""
WRONG = """
av.show(loss, them="dark")
stepper.goto("end")
"""


def test_a_users_program_is_checked(tmp_path: Path) -> None:
    """Strictly: what is right passes, what is wrong is said, each at its line."""
    (tmp_path / "program.py").write_text(PROGRAM + WRONG, encoding="utf-8")
    package = Path(str(resources.files(av))).parent
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(package)} if "site-packages" not in package.parts else None,
        capture_output=True,
        text=True,
    )
    first = PROGRAM.count("\n") + 2
    said = [line.split(": error: ")[0] for line in checked.stdout.splitlines() if ": error: " in line]
    assert said == [f"program.py:{first}", f"program.py:{first + 1}"], checked.stdout + checked.stderr


def test_the_package_says_that_it_has_types() -> None:
    assert (resources.files(av) / "py.typed").is_file()
