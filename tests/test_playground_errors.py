"""A program of the playground that raises: its picture has the program's names, and the page says what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

RUNS = """
import json, sys
from autograd_viz.cli import tab
tab.start()
for program, language in json.load(sys.stdin):
    tab.shown_last.clear()
    result = json.loads(tab.run("import torch\\n" + program, lambda text: None, None, language))
    names = [t.name for thing in tab.shown_last for t in thing.drawing.document.tensors]
    print(json.dumps({**result, "shown": [shown["kind"] for shown in result["shown"]], "names": names}))
"""


def ran(*programs: str, language: str = "en") -> list[dict[str, Any]]:
    """What the page gets of each program; one process, where `torch` is the twin."""
    given = json.dumps([(program, language) for program in programs])
    done = subprocess.run([sys.executable, "-c", RUNS], input=given, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


LEAF = "x = torch.tensor(3.0, requires_grad=True)\n"


def test_what_ran_is_drawn_with_the_programs_names() -> None:
    plain, inside = ran(
        LEAF + "y = x * x\ny.detach().numpy().nothing",
        LEAF + "def f(u):\n    z = u * 2\n    return z + torch.ones(3) @ torch.ones(2)\nf(x * x)",
    )
    assert plain["names"] == ["x", "y"]
    assert "z" in inside["names"] and "x" in inside["names"]


def test_without_requires_grad_the_forward_pass_is_drawn_and_the_line_is_written() -> None:
    asked, off = ran("x = torch.tensor(3.0)\ny = x * x\ny.backward()", LEAF + "z = torch.tensor(2.0) * 2")
    assert asked["shown"] == ["stepper"] and "Write x = torch.tensor(3.0, requires_grad=True)." in asked["error"]["advice"]
    assert off["shown"] == ["stepper"] and "No tensor requires grad" not in off["said"]  # x does


UPDATED = "w = torch.tensor(1.0, requires_grad=True)\nfor _ in range(3):\n    loss = (w - 3) ** 2\n    loss.backward()\n    "
# programs and what the advice says
ADVICE = {
    "x = torch.tensor(3.0, require_grad=True)": "Did you mean requires_grad?",
    "x = torch.ones(3, require_grad=True)": "Did you mean requires_grad?",
    LEAF + "(x * x).backward(retain_grap=True)": "Did you mean retain_graph?",
    LEAF + "(x * x).backwards()": "Did you mean backward?",
    LEAF + "y = x * xx_": "",
    "number = 3\nprint(numbr)": "Did you mean number?",
    "layer = torch.nn.Linear(2, 1)\nlayer.wieght": "Did you mean weight?",
    "print(torch.tenser(3))": "",  # the message asks it
    "def f(a):\n    pass\nf(zz=3)": "",
    "[].nothing_like_this": "",
    UPDATED + "w = w - 0.1 * w.grad": "w.grad is None",
    "x = None\nx * 2.0": "",
    "x = input('how many? ')": "",
}


def test_the_advice_names_what_was_meant_and_why_a_grad_is_none() -> None:
    for (program, said), result in zip(ADVICE.items(), ran(*ADVICE), strict=True):
        advice = result["error"]["advice"]
        assert (said in advice) if said else not advice, (program, advice)


def test_a_page_has_no_input() -> None:
    asked, read = ran("x = input('how many? ')", "import sys\nfor line in sys.stdin:\n    print(line)")
    assert (
        asked["error"]["text"]
        == read["error"]["text"]
        == ("EOFError: A page has no input. Write the value into the program, as in x = 3.0")
    )
