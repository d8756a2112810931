"""What travels to the page: one picture, frames, one cursor."""

from __future__ import annotations

import json
import re

import autograd_viz as av
from autograd_viz.widget import modules as module


def stepper() -> av.Tensor:
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    return av.step(a * b + a)


def test_frames_can_be_replayed_in_both_directions() -> None:
    """A change's "before" is what the frames before it left, at every address."""
    s = stepper()
    s.finish()
    at: dict[str, object] = {}
    for frame in s.frames:
        for address, before, after in frame["changes"]:
            assert at.get(address, before) == before
            at[address] = after
    assert len(s.frames) == s.picture["total"] == 4
    assert json.loads(json.dumps(s.frames))[0]["node"] == s.frames[0]["node"]


def test_the_row_of_a_sum_settles_in_the_next_frame() -> None:
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    a.grad = av.tensor(5.0)
    s = av.step(a * b)
    s.finish()
    words = [
        "".join(run for run, _ in line) for f in s.frames for at, _, after in f["changes"] if at == "t0.grad" for line in after
    ]
    assert words == ["grad = 5.0 + 3.0 = 8.0", "grad = tensor(8.)"]


def test_setting_step_moves_the_pass_and_stops_at_the_end() -> None:
    a = av.tensor(2.0, requires_grad=True)
    s = av.step(a * a)
    s.step = 99
    assert s.step == 2 and a.grad.item() == 4.0 and s.complete
    s.step = 0
    assert a.grad is None


def test_a_message_from_the_page_moves_the_pass() -> None:
    a = av.tensor(2.0, requires_grad=True)
    s = av.step(a * a)
    s._asked(s, {"kind": "goto", "step": 1}, [])
    assert s.step == 1
    for nonsense in ({"kind": "goto", "step": "1"}, {"kind": "x"}, None, 3):
        s._asked(s, nonsense, [])
    assert s.step == 1


def test_modules_are_joined_without_imports_or_clashing_names() -> None:
    text = module.joined_modules()
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert text.count("export ") == 1 and text.rstrip().endswith("export default { initialize, render };")
    top = re.findall(r"^(?:const|let|class|function) (\w+)", text, re.MULTILINE)
    assert len(top) == len(set(top)) > 10


def test_every_module_is_joined_after_those_it_imports() -> None:
    for i, name in enumerate(module.MODULES):
        for imported in re.findall(r'^import [^;]* from "\./([^"]+)"', module._static(name), re.MULTILINE):
            assert imported in module.MODULES[:i], (name, imported)


def test_the_front_end_asks_no_network_and_parses_no_html() -> None:
    text = module.joined_modules()
    for forbidden in (
        "innerHTML",
        "insertAdjacentHTML",
        "eval(",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "http://",
        "https://",
    ):
        assert forbidden not in text.replace("http://www.w3.org/", "")


def test_every_colour_role_of_the_picture_has_a_rule_in_the_style_sheet() -> None:
    css = module.style_sheets()
    svg = stepper().picture["svg"]
    roles = {c for names in re.findall(r'class="([^"]*)"', svg) for c in names.split() if re.match(r"(f|s|fs)-", c)}
    assert roles and all(f".{role} " in css for role in roles), {r for r in roles if f".{r} " not in css}
