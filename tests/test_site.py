"""What the playground takes from elsewhere is kept for the user, and checked each time."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from autograd_viz.errors import AutogradVizError
from autograd_viz.site.libraries import PACKAGES, cache, pyodide_packages


def test_what_was_fetched_is_kept_among_the_users_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache() == tmp_path / ".cache" / "autograd_viz" / "site"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert cache() == tmp_path / "elsewhere" / "autograd_viz" / "site"


def test_a_kept_package_needs_no_source_unless_it_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    modules, source, target = (tmp_path / name for name in ("modules", "source", "target"))
    for folder in (modules / "pyodide", source, target):
        folder.mkdir(parents=True)
    files = {name: f"{name}.whl" for name in (*PACKAGES, "another")}
    for file in files.values():
        (source / file).write_text(file, encoding="utf-8")
    named = {name: {"file_name": f, "sha256": hashlib.sha256(f.encode()).hexdigest()} for name, f in files.items()}
    lock = json.dumps({"info": {"version": "0.0"}, "packages": named})
    (modules / "pyodide" / "pyodide-lock.json").write_text(lock, encoding="utf-8")
    assert [*pyodide_packages(modules, str(source), target)["packages"]] == [*PACKAGES]
    assert sorted(path.name for path in target.iterdir()) == sorted(files[name] for name in PACKAGES)
    shutil.rmtree(source)
    pyodide_packages(modules, str(source), target)
    (cache() / "packages" / files["numpy"]).write_text("changed", encoding="utf-8")
    with pytest.raises(AutogradVizError, match=r"cannot read numpy\.whl from"):
        pyodide_packages(modules, str(source), target)
