"""What the README says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import autograd_viz as av

from .blocks import blocks, run_python

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def test_its_code_runs_and_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(README)
    assert (tmp_path / "e.gif").exists()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    for target in targets:
        assert (ROOT / target).exists(), target


def test_its_two_commands_are_one_line_each() -> None:
    commands = [b.text.removesuffix("\n") for b in blocks(README) if b.language == "sh"]
    assert len(commands) == 2 and all("\n" not in c and c.startswith("python3 -m venv .venv && ") for c in commands)


def test_its_other_commands_are_there() -> None:
    """Each `python -m …` names a module of ours, or Sphinx."""
    for module in re.findall(r"`python -m ([\w.]+)", README.read_text(encoding="utf-8")):
        assert module == "sphinx" or (ROOT / (module.replace(".", "/") + ".py")).exists(), module


def test_the_terms_of_our_own_are_words_of_the_code() -> None:
    """A word that has left the code leaves the table of terms in CONTRIBUTING.md too."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("| our word in code |") :].split("\n\n")[0]
    ours = [re.fullmatch(r"\| `(\w+)` \| [^|]+ \| [^|]+ \|", row) for row in table.splitlines()[2:]]
    code = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "autograd_viz").rglob("*.py")).lower()
    for row in ours:
        assert row is not None
        assert re.search(rf"\b{row[1]}\b", code), row[1]


def test_the_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {av.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{av.__version__}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
