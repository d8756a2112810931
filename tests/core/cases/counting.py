from __future__ import annotations

from . import Cases

CASES: Cases = {}
WITHOUT = dict.fromkeys(
    ("count_values", "distinct_runs", "distinct_values"),
    "not differentiable: its backward refuses (tests/core/test_refused.py)",
)
