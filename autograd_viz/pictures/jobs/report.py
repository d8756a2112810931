"""What the ranks of a job told, side by side, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ... import words
from ...graph.codec import document_from_json
from ...graph.model import Document
from ...graph.text import few_names

Plain = Mapping[str, Any]
FAR = 100.0  # how much larger a local gradient may be than another rank's


class Line(NamedTuple):
    """A parameter on all ranks."""

    name: str  # as rank 0 calls it
    here: tuple[bool, ...]  # by rank, does its graph have the parameter?
    norms: tuple[float | None, ...]  # of the local gradient by rank; None where no gradient arrived
    mean: float | None  # the norm of the mean over ranks; None where nothing is averaged
    bad: tuple[int, ...]  # by rank, how many elements of the local gradient are nan or inf
    differs: tuple[int, ...]  # ranks whose weights are not those of the first rank that has it
    placement: str
    shard: tuple[int, ...]
    whole: tuple[int, ...]  # placement, shard, whole: how it is spread over ranks; empty if every rank has all of it


class Bucket(NamedTuple):
    """Gradients that DDP sends at once: their names, and after how many gradients they are ready on each rank."""

    names: tuple[str, ...]
    ready: tuple[int, ...]


class Report:
    """The parts of all ranks of a job."""

    def __init__(self, parts: Sequence[Plain]) -> None:
        self.parts = sorted(parts, key=lambda p: int(p["rank"]))
        self.documents: list[Document] = [document_from_json(p["document"]) for p in self.parts]  # the graph of each rank
        self.ranks = len(self.parts)
        self.names = [{p["name"] for p in part["parameters"]} for part in self.parts]  # of the parameters, by rank
        self.lines = tuple(self._lines())  # its parameters
        self.buckets = tuple(self._buckets())  # of DDP, in the order in which rank 0 has them ready

    def _lines(self) -> Iterator[Line]:
        told = [{p["name"]: p for p in part["parameters"]} for part in self.parts]
        for name in dict.fromkeys(name for of in told for name in of):
            here = [of.get(name) for of in told]
            first = next(p for p in here if p is not None)
            is_spread = bool(first.get("placement"))
            others = (r for r, p in enumerate(here) if p is not None and p["weight"] != first["weight"] and not is_spread)
            norms, bad = tuple(p and p["norm"] for p in here), tuple(0 if p is None else p["bad"] for p in here)
            spread = first.get("placement", ""), tuple(first.get("shard", ())), tuple(first.get("whole", ()))
            yield Line(name, tuple(p is not None for p in here), norms, first["mean"], bad, tuple(others), *spread)

    def _buckets(self) -> Iterator[Bucket]:
        for k, told in enumerate(self.parts[0]["replicas"]):
            of_ranks = [p["replicas"][k]["buckets"] for p in self.parts if len(p["replicas"]) > k]
            found = (
                Bucket(tuple(bucket["names"]), tuple(buckets[place]["ready"] for buckets in of_ranks if place < len(buckets)))
                for place, bucket in enumerate(told["buckets"])
            )
            yield from sorted(found, key=lambda b: b.ready[0])

    def sentences(self) -> list[str]:
        """What is wrong, the worst first; else that nothing is."""
        found = [*(list(self._unreached()) or self._absent()), *self._bad(), *self._unlike(), *self._far()]
        fine = words.JOB_FINE if all(names == self.names[0] for names in self.names) else words.JOB_PARTS
        return found or [fine.format(ranks=self.ranks, count=len(self.lines))]

    def _unreached(self) -> Iterator[str]:
        """Parameters of a DDP module that some rank's pass does not reach."""
        for k in range(max((len(p["replicas"]) for p in self.parts), default=0)):
            told = {int(p["rank"]): p["replicas"][k] for p in self.parts if len(p["replicas"]) > k}
            missing = {rank: t["unreached"] for rank, t in told.items() if t["unreached"]}
            if any(t["finds_unused"] for t in told.values()):
                yield from (words.JOB_UNUSED.format(rank=r, names=few_names(names)) for r, names in missing.items())
                continue
            common = set.intersection(*(set(t["unreached"]) for t in told.values()))
            for rank, names in missing.items():
                if own := [n for n in names if n not in common]:
                    yield words.JOB_UNREACHED.format(rank=rank, names=few_names(own))
            if common:
                yield words.JOB_NOBODY.format(names=few_names(sorted(common)))

    def _absent(self) -> Iterator[str]:
        """Parameters that a rank does not reach, though it has others in common with the rest: no stage of a pipeline."""
        for rank, mine in enumerate(self.names):
            others = set[str]().union(*(n for r, n in enumerate(self.names) if r != rank))
            if mine & others and others - mine:
                yield words.JOB_ABSENT.format(rank=rank, names=few_names(sorted(others - mine)))

    def _bad(self) -> Iterator[str]:
        """Where gradients are nan or inf, by the ranks that have it so."""
        found: dict[tuple[int, ...], list[str]] = {}
        for line in self.lines:
            found.setdefault(tuple(r for r, count in enumerate(line.bad) if count), []).append(line.name)
        for ranks, names in found.items():
            if ranks:
                form = words.JOB_BAD if len(ranks) == 1 < self.ranks else words.JOB_BAD_SEVERAL
                yield form.format(ranks=few_names([str(r) for r in ranks]), names=few_names(names))

    def _unlike(self) -> Iterator[str]:
        if unlike := [line for line in self.lines if line.differs]:
            ranks = sorted({r for line in unlike for r in line.differs})
            names = few_names([line.name for line in unlike])
            yield words.JOB_WEIGHTS.format(names=names, ranks=", ".join(map(str, ranks)))
        for rank, part in enumerate(self.parts):
            if part["collectives"] != self.parts[0]["collectives"]:
                first, mine = (few_names(list(p["collectives"])) or words.JOB_NONE for p in (self.parts[0], part))
                yield words.JOB_COLLECTIVES.format(rank=rank, mine=mine, first=first)

    def _far(self) -> Iterator[str]:
        for line in self.lines:
            known = {r: n for r, n in enumerate(line.norms) if n is not None and math.isfinite(n)}
            if len(known) > 1 and not any(line.bad):
                most = max(known, key=lambda r: known[r])
                rest = max(n for r, n in known.items() if r != most)
                if rest > 0 and known[most] > FAR * rest:
                    yield words.JOB_FAR.format(rank=most, name=line.name, norm=f"{known[most]:.3g}", rest=f"{rest:.3g}")

    def table(self) -> list[dict[str, Any]]:
        """A record for each parameter: local norms by rank, the norm of the mean, what is wrong, placement."""
        return [
            {"name": line.name, **{words.JOB_RANK.format(rank=r): norm for r, norm in enumerate(line.norms)}, "mean": line.mean,
             "bad": sum(line.bad), "weights differ on": list(line.differs), "placement": line.placement,
             "shard": list(line.shard), "whole": list(line.whole)}
            for line in self.lines
        ]  # fmt: skip
