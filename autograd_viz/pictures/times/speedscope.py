"""A timing in the file format of speedscope, a viewer of flame charts: https://www.speedscope.app/file-format-schema.json."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from ... import words
from .report import Part, Report

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope_json(report: Report, name: str) -> str:
    """Two profiles, forward and backward: the modules around each op, in the order of the pass, with its median time."""
    frames: dict[tuple[Any, ...], int] = {}
    halves = [(words.TIME_FORWARD, report.parts, 0), (words.TIME_BACK, report.parts[::-1], 1)]
    profiles = []
    for title, parts, half in halves:
        timed = [(part, median((part.forward, part.backward)[half])) for part in parts]
        samples = [(_stack(part, half, report, frames), seconds) for part, seconds in timed if seconds]
        if samples:
            end = sum(seconds for _, seconds in samples)
            stacks, weights = [s for s, _ in samples], [seconds for _, seconds in samples]
            profiles.append({
                "type": "sampled", "name": title, "unit": "seconds", "startValue": 0, "endValue": end, "samples": stacks,
                "weights": weights,
            })  # fmt: skip
    told = [{k: v for k, v in zip(("name", "file", "line"), key, strict=False) if v is not None} for key in frames]
    everything = {"$schema": SCHEMA, "shared": {"frames": told}, "profiles": profiles, "name": name, "activeProfileIndex": 0}
    return json.dumps({**everything, "exporter": "autograd_viz"}, ensure_ascii=False, allow_nan=False) + "\n"


def _stack(part: Part, half: int, report: Report, frames: dict[tuple[Any, ...], int]) -> list[int]:
    """The modules around an op, from the outside in, and the op: places among the frames."""
    keys: list[tuple[Any, ...]] = []
    for k in range(len(part.path) + 1):
        path = ".".join(part.path[:k])
        kind = report.classes.get(path, "")
        if path or kind:
            keys.append((f"{path} {kind}".strip(),))
    source = None if part.op is None else part.op.source
    name = part.name if half == 0 or part.node is None else part.node.name
    keys.append((name,) if source is None else (name, source.file, source.line))
    return [frames.setdefault(key, len(frames)) for key in keys]
