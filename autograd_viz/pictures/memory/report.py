"""What a memory says: a sentence, and records for tables and files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from ... import words
from ...answers.sentences.text import listed, size_text
from ...errors import UnknownChoiceError
from ...graph.storages import ACTIVATION, INPUT, KINDS, PARAMETER
from ...graph.text import label_of
from .advice import code_of, record_of, sentences_of
from .budget import Plan, plan_of
from .checkpoints import Checkpoint, Checkpoints, checkpoints_of
from .curve import Moment, curve_of
from .facts import Facts, Holding

Record = dict[str, Any]
WORTH = 0.99  # of the peak: what a checkpoint must bring it below, to be advised


class Report:
    """Everything that is known of the memory of one root. `budget`: bytes that the whole may take; None: any. `model`: the
    variable that holds the model, for code to paste. `kept`: sentences about graphs of earlier passes.
    """

    def __init__(
        self, facts: Facts, budget: int | None = None, model: str = "model", is_torch: bool = False, kept: Sequence[str] = ()
    ) -> None:
        self.facts, self.kept = facts, kept
        self.curve: Sequence[Moment] = curve_of(facts)  # the backward pass
        self.peak = max(self.curve, key=lambda m: m.bytes, default=None)  # its highest moment; None if there is no call
        checkpoints = Checkpoints(facts, self.curve)
        self.checkpoints: Sequence[Checkpoint] = checkpoints_of(checkpoints)  # the first lowers the peak most
        stays = facts.stays
        self.stays = {  # bytes that the pass finds and leaves
            PARAMETER: stays.parameters, INPUT: facts.bytes(INPUT), "optimizer": stays.optimizer, "grads": stays.grads,
        }  # fmt: skip
        self.total = sum(self.stays.values()) + (0 if self.peak is None else self.peak.bytes)
        self.plan: Plan | None = None if budget is None else plan_of(checkpoints, budget, sum(self.stays.values()))
        self.code = "" if self.plan is None else code_of(self.plan, model, is_torch)

    def held(self) -> str:
        """How much in all."""
        count, size = self.facts.count, size_text(self.facts.bytes())
        if not count:
            return words.MEMORY_NOTHING
        return (words.MEMORY_ONE if count == 1 else words.MEMORY_SAID).format(count=count, size=size)

    def kinds(self) -> list[tuple[str, str]]:
        """How much of each kind."""
        plurals = {ACTIVATION: words.MEMORY_ACTIVATION, PARAMETER: words.MEMORY_PARAMETER, INPUT: words.MEMORY_INPUT}
        sizes = ((kind, plural, self.facts.bytes(kind)) for kind, plural in plurals.items())
        return [(k, words.MEMORY_PART.format(size=size_text(n), kind=plural)) for k, plural, n in sizes if n]

    def at_peak(self) -> str:
        """Where the peak is."""
        if self.peak is None:
            return ""
        node = self.facts.nodes[self.peak.node]
        op, path = self.facts.ops.get(node.op or ""), ".".join(self.facts.paths[node.id])
        of = (node.variable,) if op is None else op.outputs  # else the module stands for it
        is_named = any(t is not None and self.facts.tensors[t].name for t in of)
        said = label_of(self.facts.document, node.id) if is_named else f"{node.name} ({path})" if path else node.name
        return words.MEMORY_PEAK.format(size=size_text(self.peak.bytes), node=said)

    def advice(self, most: int = 1) -> list[str]:
        """The plan for the budget; without one the checkpoints that lower the peak most."""
        if self.plan is not None:
            return sentences_of(self.plan, self.facts, self.total)
        worth = [c for c in self.checkpoints if self.peak is not None and c.peak < WORTH * self.peak.bytes]
        return [_advice(c) for c in worth[:most]]

    def __str__(self) -> str:
        kinds = words.COMMA.join(said for _, said in self.kinds())
        held = f"{self.held()}: {kinds}" if kinds else self.held()
        kept = (said.rstrip(".。") for said in self.kept)
        return "; ".join(filter(None, (held, self.at_peak(), self.in_all(), *self.advice(), *kept)))

    def in_all(self) -> str:
        """The peak with all that stays."""
        state = words.MEMORY_STATE_FORESEEN if self.facts.stays.foreseen else words.MEMORY_STATE
        said = {
            PARAMETER: words.MEMORY_PARAMETER, INPUT: words.MEMORY_INPUT, "optimizer": state, "grads": words.MEMORY_OLD_GRADS,
        }  # fmt: skip
        parts = [said[kind] for kind, size in self.stays.items() if size]
        return words.MEMORY_TOTAL.format(size=size_text(self.total), parts=listed(parts)) if parts and self.peak else ""

    def table(self, by: str) -> list[Record]:
        """Records: see `Memory.table`."""
        if by not in [*TABLES]:
            raise UnknownChoiceError("table", by, TABLES)
        return TABLES[by](self)

    def everything(self) -> Record:
        """All tables, and the sums."""
        sums = {f"{kind}s": self.facts.bytes(kind) for kind in KINDS}
        peak = None if self.peak is None else {"bytes": self.peak.bytes, **self._moment(self.facts.calls.index(self.peak.node))}
        whole: Record = {"bytes": self.facts.bytes(), "saved_tensors": self.facts.count, **sums, "peak": peak}
        whole |= {"stays": self.stays, "total": self.total, "kept": [*self.kept]}
        whole |= {} if self.plan is None else {"plan": record_of(self.plan, self.total, self.code)}
        return {**whole, "modules_guessed": self.facts.is_guessed, **{by: make(self) for by, make in TABLES.items()}}

    def _modules(self) -> list[Record]:
        """A module counts what is inside it. They are in the order of the program."""
        groups: dict[Any, list[Holding]] = {p[:k]: [] for p in self.facts.op_paths.values() for k in range(len(p) + 1)}
        for h in self.facts.holdings:
            for k in range(len(h.path) + 1):
                groups[h.path[:k]].append(h)
        return [{"module": ".".join(p), "class": self.facts.module_of(p), **_sums(g)} for p, g in groups.items() if g]

    def _grouped(self, key: Callable[[Holding], Record]) -> list[Record]:
        """The sums of holdings with the same key; the largest first."""
        groups: dict[Any, list[Holding]] = defaultdict(list)
        for h in self.facts.holdings:
            groups[tuple(key(h).items())].append(h)
        sums = [{**dict(same), **_sums(g)} for same, g in groups.items()]
        return sorted(sums, key=lambda record: -record["bytes"])

    def _moment(self, i: int) -> Record:
        moment = self.curve[i]
        of = {"call": i + 1, "node": self.facts.nodes[moment.node].name, "module": ".".join(self.facts.paths[moment.node])}
        return {**of, **{k: v for k, v in asdict(moment).items() if k not in ("node", "sent")}, "bytes": moment.bytes}


TABLES: dict[str, Callable[[Report], list[Record]]] = {
    "tensor": lambda report: [_tensor(h) for h in report.facts.holdings],
    "module": Report._modules,
    "op": lambda report: report._grouped(lambda h: {"op": (h.op or h.node).name}),
    "line": lambda report: report._grouped(_line),
    "checkpoint": lambda report: [
        {"around": c.name, "class": c.kind, "holds": c.holds, "saves": c.saves, "peak": c.peak} for c in report.checkpoints
    ],
    "call": lambda report: [report._moment(i) for i in range(len(report.curve))],
}


def _advice(c: Checkpoint) -> str:
    sentence = words.MEMORY_CHECKPOINT if len(c.paths) == 1 else words.MEMORY_CHECKPOINTS
    return f"{sentence.format(name=c.name, size=size_text(c.saves))} ({words.MEMORY_LOWERS.format(size=size_text(c.peak))})"


def _tensor(h: Holding) -> Record:
    first, block = h.storage.uses[0], {"bytes": h.storage.bytes, "kind": h.storage.kind, "name": h.label}
    made = {"module": ".".join(h.path), "op": (h.op or h.node).name, "node": h.node.name, "saved": first.name}
    return {**block, **made, "shape": first.shape, "dtype": first.dtype, "uses": len(h.storage.uses), **_line(h)}


def _line(h: Holding) -> Record:
    source = None if h.op is None else h.op.source
    if source is None:
        return {"file": None, "line": None, "code": ""}
    return {"file": source.file, "line": source.line, "code": source.text.strip().partition("\n")[0]}


def _sums(holdings: Sequence[Holding]) -> Record:
    sizes = {f"{k}s": sum(h.storage.bytes for h in holdings if h.storage.kind == k) for k in KINDS}
    return {"bytes": sum(sizes.values()), **sizes, "tensors": sum(len(h.storage.uses) for h in holdings)}
