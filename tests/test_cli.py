"""The command."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograd_viz import cli


def test_lab_opens_the_first_notebook_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(cli.subprocess, "call", lambda command: ran.append(command) or 0)
    assert cli.main(["lab", "--no-browser"]) == 0
    (command,) = ran
    assert command[1:3] == ["-m", "jupyterlab"] and command[-1] == "--no-browser"
    assert "--LabApp.default_url=/lab/tree/01_one_multiplication.ipynb" in command


def test_lab_of_an_installed_package_copies_the_notebooks_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "autograd_viz"
    (package / "notebooks").mkdir(parents=True)
    (package / "notebooks" / "01.ipynb").write_text("{}")
    monkeypatch.setattr(cli, "__file__", str(package / "cli.py"))
    folder = cli.notebooks_folder(tmp_path)
    (folder / "01.ipynb").write_text("mine")
    assert cli.notebooks_folder(tmp_path) == folder and (folder / "01.ipynb").read_text() == "mine"


def test_lab_without_jupyterlab_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["lab"]) == 1
    assert 'pip install "autograd-viz[lab]"' in capsys.readouterr().err


def test_version_and_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main(["--version"])
    assert done.value.code == 0 and capsys.readouterr().out.startswith("autograd-viz ")
    with pytest.raises(SystemExit) as failed:
        cli.main(["lba"])
    assert failed.value.code == 2 and "invalid choice: 'lba'" in capsys.readouterr().err
