"""`autograd-viz lab` trusts the notebooks that it brings."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import closing
from pathlib import Path

import nbformat
import pytest

from autograd_viz.cli import trust
from autograd_viz.cli.lab import FIRST

from .test_notebooks import FOLDER, NOTEBOOKS, name_of


def test_our_notebooks_are_trusted_and_none_that_somebody_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbformat.sign import NotebookNotary

    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    changed = tmp_path / "02_the_chain_rule_in_boxes.ipynb"
    for name in (FIRST, changed.name):
        shutil.copy(FOLDER / name, tmp_path)
    changed.write_bytes(changed.read_bytes().replace(b"Two multiplications", b"Three multiplications"))
    trust.trust_ours(tmp_path)
    notary = NotebookNotary()  # type: ignore[no-untyped-call]
    with closing(notary.store):
        trusted = [notary.check_signature(nbformat.read(p, as_version=4)) for p in (tmp_path / FIRST, changed)]
    assert trusted == [True, False]


def test_the_hashes_are_those_of_the_notebooks() -> None:
    """`.ci/store_outputs.py` writes them."""
    lines = Path(trust.__file__).with_name(trust.HASHES).read_text("utf-8").splitlines()
    known = [(name, hash) for hash, _, name in (line.partition("  ") for line in lines)]
    assert known == [(f"{name_of(p)}.ipynb", hashlib.sha256(p.read_bytes()).hexdigest()) for p in NOTEBOOKS]
