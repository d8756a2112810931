"""What the README says is so."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
HAS_TORCH = importlib.util.find_spec("torch") is not None
CODE = [c for c in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if HAS_TORCH or not c.startswith("import torch\n")]


def test_its_code_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in CODE:
        exec(compile(block, "README.md", "exec"), names)
    promised = [line.removeprefix("# ") for block in CODE for line in block.split("\n") if line.startswith("# ")]
    assert capsys.readouterr().out.split("\n")[:-1] == promised and promised
    assert (tmp_path / "e.svg").exists()


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_its_two_commands_are_one_line_each() -> None:
    commands = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert len(commands) == 2 and all("\n" not in c and c.startswith("python3 -m venv .venv && ") for c in commands)
