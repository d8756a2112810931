"""Writes docs/look_up/checks.md, the page of all checks: ``python .ci/make_checks.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograd_viz.answers.checks.check import ASKED, SO, Check  # noqa: E402
from autograd_viz.answers.checks.pages import PAGES, page_of  # noqa: E402
from autograd_viz.words import en  # noqa: E402

PAGE = ROOT / "docs" / "look_up" / "checks.md"
MOST = 3  # sentences of a check with many
HEAD = """# All checks

<!-- Made by .ci/make_checks.py from autograd_viz/answers/checks. -->

`av.check()` and `autograd-viz check train.py` run all of these. `av.explain()` uses the same list.
Each check is tested on the programs that stand here: it finds the fault in the first, and nothing in the others.
"""


def section(check: Check, about: str) -> str:
    """The part of the page about a check."""
    kinds = [k for n in vars(en) if n.startswith("CAUSE_") and page_of(k := n[6:].lower()) == (check, _sure(check, k))]
    told = [k for k in kinds if _sure(check, k) != ASKED]
    rows = [f"- {_certainty(check, k)} {_text('CAUSE', k)}{f' → {do}' if (do := _text('DO', k)) else ''}" for k in told[:MOST]]
    more = [f"- … and {len(told) - MOST} more of this kind"] if len(told) > MOST else []
    programs = [("It finds:", [check.sick]), ("It is silent about:", check.innocent)]
    blocks = [f"{title}\n\n" + "\n\n".join(f"```py\n{p.strip()}\n```" for p in each) for title, each in programs]
    return "\n\n".join([f"## {check.code} {check.name}", about, "\n".join(rows + more), *blocks])


def _sure(check: Check, kind: str) -> str:
    found = page_of(kind)
    return found[1] if found is not None and found[0] is check else ""


def _certainty(check: Check, kind: str) -> str:
    return "*It is so:*" if _sure(check, kind) == SO else "*It may be:*"


def _text(prefix: str, kind: str) -> str:
    """One of its texts, without the place; values stand as `op`."""
    text = re.sub(r"\s?\(\{\w+\}\)", "", getattr(en, f"{prefix}_{kind.upper()}", ""))
    return re.sub(r"\{(\w+)\}", r"`\1`", text)


def page() -> str:
    """The whole page."""
    parts = sorted((module.CHECK.code, section(module.CHECK, (module.__doc__ or "").strip())) for module in PAGES)
    return "\n\n".join([HEAD.strip(), *(text for _, text in parts)]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
