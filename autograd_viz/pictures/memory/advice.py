"""What a plan of checkpoints says: sentences, code to paste, a record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ... import words
from ...answers.sentences.text import first_few, listed, size_text, work_text
from ...graph.paths import Path
from .budget import Plan
from .facts import Facts

CODE = """\
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing

chosen = [{model}.get_submodule(name) for name in {names}]
apply_activation_checkpointing({model}, check_fn=lambda part: part in chosen)"""
TWINS_CODE = """\
from autograd_viz.utils.checkpoint import checkpoint

{calls}"""
TWINS_CALL = "checkpoint({model}{part}, x, use_reentrant=False)  # in place of {model}{part}"
SHARES_STATISTICS = ("BatchNorm", "SyncBatchNorm")


def sentences_of(plan: Plan, facts: Facts, before: int) -> list[str]:
    """The answer; `before`: bytes at the peak without checkpoints."""
    names = listed(_runs_of(plan.paths)) if plan.paths else ""
    sizes = {"before": size_text(before), "size": size_text(plan.peak), "budget": size_text(plan.budget), "names": names}
    if not plan.fits:
        found = [(words.MEMORY_NO_PLAN_WITH if names else words.MEMORY_NO_PLAN).format(**sizes)]
    elif not plan.paths:
        return [words.MEMORY_FITS.format(budget=size_text(plan.budget), size=size_text(before))]
    else:
        found = [(words.MEMORY_PLAN if len(plan.paths) > 1 else words.MEMORY_PLAN_ONE).format(**sizes)]
    if plan.paths:
        found += [words.MEMORY_PRICE.format(share=f"{plan.share:.0%}", work=work_text(plan.work))]
        found += [words.MEMORY_PLAN_GUESSED] if facts.is_guessed else _bound(plan)
    normed = next((name for path in plan.paths for name in _with_statistics(facts, path)), "")
    return [*found, words.MEMORY_STATISTICS.format(name=normed)] if normed else found


def _bound(plan: Plan) -> list[str]:
    if plan.bound is None or not plan.forward:
        return [words.MEMORY_CHEAPER] if plan.fits else []
    if plan.bound >= plan.work:
        return [words.MEMORY_CHEAPEST]
    return [words.MEMORY_BOUND.format(share=f"{plan.bound / plan.forward:.0%}")]


def _with_statistics(facts: Facts, path: Path) -> Iterable[str]:
    """The batch norms inside a module that are in training mode."""
    name = ".".join(path)
    inside = (m for m in facts.document.modules if m.path == name or m.path.startswith(f"{name}."))
    return (m.path for m in inside if m.name.startswith(SHARES_STATISTICS) and "eval" not in m.marks)


def code_of(plan: Plan, model: str, is_torch: bool) -> str:
    """The checkpoints as code to paste; `model`: the variable that holds the model."""
    if not plan.paths:
        return ""
    if is_torch:
        return CODE.format(model=model, names=json.dumps([".".join(path) for path in plan.paths], ensure_ascii=False))
    parts = ("".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in path) for path in plan.paths)
    return TWINS_CODE.format(calls="\n".join(TWINS_CALL.format(model=model, part=part) for part in parts))


def record_of(plan: Plan, before: int, code: str) -> dict[str, Any]:
    """The plan as data."""
    chosen = {"budget": plan.budget, "fits": plan.fits, "modules": [".".join(path) for path in plan.paths]}
    peaks = {"peak_before": before, "peak": plan.peak}
    flops = {"recomputed_flops": plan.work, "forward_flops": plan.forward, "least_flops": plan.bound}
    return {**chosen, **peaks, **flops, "code": code}


def _runs_of(paths: Sequence[Path]) -> list[str]:
    """Their names; neighbours of one list as one: `layers.3 … layers.8`."""
    found: list[list[Path]] = []
    for path in paths:
        last = found[-1][-1] if found else ()
        follows = last[:-1] == path[:-1] and bool(last) and last[-1].isdecimal() and path[-1] == str(int(last[-1]) + 1)
        found = [*found[:-1], [*found[-1], path]] if follows else [*found, [path]]
    names = []
    for run in found:
        ends = [".".join(path) for path in (run[0], run[-1])]
        names += [" … ".join(ends)] if len(run) > 2 else [".".join(path) for path in run]
    return first_few(names)
