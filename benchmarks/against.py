"""The ratios of these files beside those of another commit, measured in one run: `python -m benchmarks.core --against REV`.

Each version has a process of its own, which runs these workloads. The processes take turns, so that both meet the same load
of the machine. The other version is unpacked into a temporary folder.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROCESSES, ROUNDS = 6, 6


@contextmanager
def unpacked(revision: str) -> Iterator[Path]:
    """A temporary folder with the package as it was at a commit.

    Raises:
        SystemExit: git knows no such commit, or there was no package.
    """
    packed = subprocess.run(["git", "archive", revision, "autograd_viz"], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        sys.exit(f"git archive {revision}: {packed.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # new in Python 3.11.4
            archive.extractall(folder)
        yield Path(folder)


class Version:
    """A process in which the package of one folder runs."""

    def __init__(self, folder: Path) -> None:
        # `-m` puts the present folder first, so the package is this one, and `benchmarks` is ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.against"],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ratio(self, workload: str) -> float:
        """Our CPU time divided by PyTorch's in one round."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{workload}\n")
        if not (line := self._process.stdout.readline()):
            raise SystemExit(f"the version in {self._process.args} ended with {self._process.wait()}")
        return float(json.loads(line))

    def __enter__(self) -> Version:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()


def rounds(folders: tuple[Path, Path], names: list[str]) -> Iterator[tuple[str, float, float]]:
    """The ratios of both versions in each round of each workload. New processes each time: one may lie better in memory."""
    for _ in range(PROCESSES):
        with Version(folders[0]) as first, Version(folders[1]) as second:
            for name in names:
                for _ in range(ROUNDS):  # both in this order, so that each comes after a pause
                    yield name, first.ratio(name), second.ratio(name)


def compare(revision: str, names: list[str]) -> None:
    """Print the table: the medians of both, and the median of their quotients."""
    with unpacked(revision) as folder:
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        for name, *pair in rounds((ROOT, folder), names):
            found[name].append((pair[0], pair[1]))
    print(f"{'CPU time / PyTorch':24}{'these files':>12}{revision[:16]:>18}{'quotient':>12}")
    for name, pairs in found.items():
        here, there = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(f"{name:24}{here:12.2f}{there:18.2f}{statistics.median(a / b for a, b in pairs):12.2f}")


def serve() -> None:
    """In the process of a version: a round of each workload that is asked for."""
    from .turns import Turns
    from .workloads import WORKLOADS

    known: dict[str, Turns] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in known:
            known = {name: Turns({n: run for n, run in WORKLOADS[name]().items() if n in ("autograd_viz", "torch")})}
        times = known[name].take()
        print(json.dumps(times["autograd_viz"] / times["torch"]), flush=True)


if __name__ == "__main__":
    serve()
