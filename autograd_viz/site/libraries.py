"""What the site takes from elsewhere: editor and Python from npm, JupyterLite from PyPI, NumPy, SciPy and Pillow from Pyodide.

Everything is checked: npm holds its packages against package-lock.json, pip against requirements.txt, and Pyodide's lock file
names the sha256 of the others.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from ..errors import AutogradVizError

HERE = Path(__file__).parent
PACKAGES = ("numpy", "openblas", "scipy", "pillow")
PUBLIC = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"


def cache() -> Path:
    """The folder that keeps what was fetched: of the user, and outside of any project."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "autograd_viz" / "site"


def from_npm() -> Path:
    """The folder `node_modules`, fetched once for each lock file. AutogradVizError: npm is missing, or fails."""
    lock = (HERE / "npm" / "package-lock.json").read_bytes()
    folder = cache() / hashlib.sha256(lock).hexdigest()[:16]
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / "npm" / name, folder / name)
        ran(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev"], folder)
        (folder / "complete").touch()
    return folder / "node_modules"


def from_pypi() -> Path:
    """The folder of JupyterLite's wheels, fetched once for each list. AutogradVizError: pip is missing, or fails."""
    wanted = HERE / "pip" / "requirements.txt"
    folder = cache() / hashlib.sha256(wanted.read_bytes()).hexdigest()[:16]
    if not (folder / "complete").exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        command += ["--python-version=3.12", "--implementation=py", "--abi=none", "--platform=any", "-r", str(wanted)]
        folder.mkdir(parents=True, exist_ok=True)
        ran([*command, "-d", str(folder)], folder)
        (folder / "complete").touch()
    return folder


def ran(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command of Node.js or of Python. AutogradVizError: it is missing, or fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    except FileNotFoundError:
        raise AutogradVizError(f"the site is built with Node.js 18 or newer, and {command[0]} is not installed") from None
    if done.returncode:
        raise AutogradVizError(f"{' '.join(command[:4])} failed: {(done.stderr or done.stdout).strip()[-600:]}")


def pyodide_packages(modules: Path, source: str | None, target: Path) -> dict[str, Any]:
    """Put the packages into the target, from a folder or an address, and return their part of the lock file.

    AutogradVizError: one cannot be read, or is another one than the lock file names.
    """
    lock: dict[str, Any] = json.loads((modules / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    place = source or PUBLIC.format(version=lock["info"]["version"])
    lock["packages"] = {name: lock["packages"][name] for name in PACKAGES}
    for package in lock["packages"].values():
        (target / package["file_name"]).write_bytes(_checked(place, package["file_name"], package["sha256"]))
    return lock


def _checked(place: str, name: str, sha256: str) -> bytes:
    kept = cache() / "packages" / name
    if kept.exists() and hashlib.sha256(data := kept.read_bytes()).hexdigest() == sha256:
        return data
    try:
        if "://" in place:
            with urllib.request.urlopen(place.rstrip("/") + "/" + name, timeout=60) as answer:
                data = answer.read()
        else:
            data = (Path(place) / name).read_bytes()
    except OSError as error:
        raise AutogradVizError(f"cannot read {name} from {place}: {error}; --pyodide names another folder or address") from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise AutogradVizError(f"{name} from {place} is not the file that Pyodide's lock file names (its sha256 differs)")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(data)
    return data
