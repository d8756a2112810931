"""What travels to the page: one picture, frames, one cursor."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.errors import NotDrawableError
from autograd_viz.graph import Document
from autograd_viz.graph.reading import reader_of
from autograd_viz.stepper.stops import FLAGS, RULES, Stop, Stopped
from autograd_viz.widget import front_end as watching
from autograd_viz.widget import modules as module

from .test_front_end import FILES


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


def test_a_question_is_answered_in_one_message_with_nothing_but_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    s = stepper()
    s.next()
    sent: list[dict[str, Any]] = []
    assert s.model_id  # a page shows it
    monkeypatch.setattr(s, "_send", lambda message, buffers=None: sent.append(message["state"]))
    s._asked(s, {"kind": "goto", "step": 3}, [])
    assert [set(state) for state in sent] == [{"recorded", "step"}]
    assert sent[0]["recorded"] == {"from": 1, "frames": s.frames[1:], "answers": 1} and len(s.frames) == 3
    s._asked(s, {"kind": "nudge"}, [])
    assert len(sent) == 1


def test_questions_in_one_message_are_done_in_turn_and_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    s = stepper()
    sent: list[dict[str, Any]] = []
    assert s.model_id  # a page shows it
    monkeypatch.setattr(s, "_send", lambda message, buffers=None: sent.append(message["state"]))
    s._asked(s, {"kind": "all", "questions": [{"kind": "goto", "step": 3}, {"kind": "goto", "step": 1}]}, [])
    assert [state["step"] for state in sent] == [3, 1]
    assert [state["recorded"]["answers"] for state in sent] == [0, 1]


def test_a_press_waits_for_the_move_of_a_cell_in_another_thread() -> None:
    a = av.tensor(2.0, requires_grad=True)
    b = a * 3
    is_inside, may_go_on = threading.Event(), threading.Event()

    def wait(g: av.Tensor) -> None:
        is_inside.set()
        assert may_go_on.wait(10)

    b.register_hook(wait)
    s = av.step(b.exp())
    cell = threading.Thread(target=s.finish, daemon=True)
    press = threading.Thread(target=lambda: s._asked(s, {"kind": "goto", "step": 1}, []), daemon=True)
    cell.start()
    assert is_inside.wait(10)
    press.start()
    press.join(0.1)
    assert press.is_alive()
    may_go_on.set()
    cell.join(10)
    press.join(10)
    assert (s.step, len(s.frames), s.error) == (1, 3, "")


def test_a_condition_that_is_set_late_marks_the_frames_that_the_page_has() -> None:
    s = stepper()
    s.finish()
    s.catch_up()
    s.goto(1)
    s.stop_when(lambda step: len(step.grad_inputs) == 2)
    marked = ["condition" in frame["step"].get("flags", ()) for frame in s.frames]
    assert any(marked) and s.recorded["from"] == 0 and len(s.recorded["frames"]) == len(s.frames)
    assert marked == [len(step.grad_inputs) == 2 for step in s.stepper.trace.steps] and s.step == 1


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("name", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
def test_the_page_hears_of_a_saved_tensor_that_is_changed_in_place(name: str, is_recorded: bool) -> None:
    module = pytest.importorskip(name)
    a = module.tensor(2.0, requires_grad=True)
    b = a * 3
    s = av.step((b * b).exp())
    if is_recorded:
        s.finish()
    s.goto(1)
    assert s.spoiled == {}
    with module.no_grad():
        b.add_(1)
    s.refresh()
    assert [at.rpartition(".")[2] for at in s.spoiled] == ["other", "self"]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        s.finish()
    assert s.spoiled


@pytest.mark.parametrize("change", ["mul_(5)", "data.mul_(5)"])
@pytest.mark.parametrize("name", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
def test_the_page_hears_what_a_tensor_is_that_was_changed_in_place(name: str, change: str) -> None:
    module = pytest.importorskip(name)
    a = module.tensor([2.0, float("nan")], requires_grad=True)
    large = module.ones(100, requires_grad=True)
    s = av.step((a * 3).sum() + large.sum())
    s.refresh()
    assert s.rewritten == {}
    with module.no_grad():
        eval(f"a.{change}, large.{change}")  # the same line in two forms
    s.refresh()
    of_a = s.stepper.id_of("a")
    is_counted = change == "mul_(5)"  # x.data counts for itself, so nobody knows of a large one
    now = s.rewritten[of_a]
    assert (now["version"], now["value"]["text"]) == (int(is_counted), "[10., nan]")
    assert {t.id: t for t in s.stepper.document.tensors}[of_a].value.text == "[2., nan]"
    assert set(s.rewritten) == ({of_a, s.stepper.id_of("large")} if is_counted else {of_a})


@pytest.mark.parametrize("name", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
def test_the_page_hears_of_saved_tensors_that_another_pass_has_freed(name: str) -> None:
    module = pytest.importorskip(name)
    a = module.tensor(2.0, requires_grad=True)
    loss = (a * a).exp()
    s = av.step(loss)
    loss.backward()
    s.refresh()
    assert set(s.spoiled.values()) == {"freed"} and len(s.spoiled) == 3


def test_a_page_that_misses_frames_gets_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    s = stepper()
    s.finish()
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(s, "_send", lambda message, buffers=None: sent.append(message["state"]))
    s._asked(s, {"kind": "frames"}, [])
    assert sent == [{"frames": s.frames}]


@pytest.mark.parametrize("entry", [module.ENTRY, "stepper/page.js", "question/question.js"])
def test_modules_are_joined_without_imports_or_clashing_names(entry: str) -> None:
    text = module.joined_modules(entry)
    assert not re.search(r"^import ", text, re.MULTILINE)
    if entry == module.ENTRY:
        assert text.count("export ") == 1 and text.rstrip().endswith("export default { initialize, render };")
    declared = re.compile(r"^(?:export )?(?:const|let|class|function) (\w+)", re.MULTILINE)
    top = [name for file in module.module_order(entry) for name in declared.findall(module.static_text(file))]
    assert len(top) == len(set(top)) > 10


def test_comments_are_left_out_of_the_joined_modules_and_nothing_else() -> None:
    lines = module.joined_modules().splitlines()
    for name in module.module_order():
        text = re.sub(r"^export (?:default )?", "", module.IMPORT.sub("", module.static_text(name)), flags=re.MULTILINE)
        code = [line for line in map(str.lstrip, text.splitlines()) if line and not line.startswith(("//", "/**", "*"))]
        missing = set(code) - set(lines) - {"{ initialize, render };"}
        assert not missing, name
    assert not any(line.lstrip().startswith(("//", "* ")) for line in lines)


def test_every_module_is_joined_after_those_it_imports() -> None:
    order = module.module_order()
    for i, name in enumerate(order):
        assert set(module.imports_of(name)) <= set(order[:i]), name
    pages = ("stepper", "question", "run", "explore", "diff")
    entries = (*(f"{page}/page.js" for page in pages), "page/loader.js", "page/source_loader.js")
    assert {name for entry in entries for name in module.module_order(entry)} == set(FILES)
    assert order.count(module.ENTRY) == 1


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
    roles = {c for names in re.findall(r"class='([^']*)'", svg) for c in names.split() if re.match(r"(f|s|fs)-", c)}
    assert roles and all(f".{role} " in css for role in roles), {r for r in roles if f".{r} " not in css}


def three() -> tuple[av.Tensor, ...]:
    a, b, d = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    c = a * b
    return a, b, c, d, c * d


def test_the_page_may_ask_for_everything_that_code_may() -> None:
    a, *_, e = three()
    s = av.step(e)
    s.shown_stops = [{"kind": "node", "node": "n0"}, {"kind": "node", "node": "nonsense"}, {"kind": "nan"}, {"kind": "x"}, 3]
    s._asked(s, {"kind": "run"}, [])
    assert (s.step, s.stopped, s.stepper.stops.nodes) == (2, "breakpoint at MulBackward0 (c)", {"n0"})
    s._asked(s, {"kind": "edit", "index": 0, "how": "value", "text": "-1"}, [])
    s._asked(s, {"kind": "until", "tensor": "t0"}, [])
    assert a.grad is not None and a.grad.item() == -3.0 and s.error == ""
    s._asked(s, {"kind": "goto", "step": -7}, [])
    assert s.step == -2


@pytest.mark.parametrize("text", ["__import__('os').getcwd()", "", "[1, 2", "{}", "[1.0, 2.0]", "None"])
def test_an_edit_that_is_no_gradient_is_refused_in_words_and_never_run(text: str) -> None:
    s = av.step(three()[-1])
    s._asked(s, {"kind": "edit", "index": 0, "how": "value", "text": text}, [])
    assert s.error and s.step == 0
    s.finish()
    assert s.error == "" and s.complete


@pytest.mark.parametrize("text", ["9" * 400, "9" * 5000, "-" * 5000, "[" * 5000])
def test_an_edit_that_python_cannot_read_is_refused_in_words(text: str) -> None:
    s = av.step(three()[-1])
    s._asked(s, {"kind": "edit", "index": 0, "how": "value", "text": text}, [])
    assert s.error.startswith(f"This is not a gradient: '{text[:10]}") and s.step == 0


@pytest.mark.parametrize("number", [-1, float("nan"), float("inf"), "9", None, [1]])
def test_stops_with_a_number_that_is_no_norm_are_ignored(number: Any) -> None:
    s = av.step(three()[-1])
    s.shown_stops = [
        {"kind": "above", "number": number},
        {"kind": "grad", "node": 3},
        {"kind": "arrival", "node": "n0", "number": "x"},
    ]
    assert len(s.stops) == 0


def test_an_edit_that_no_node_has_run_with_is_sent_to_the_page() -> None:
    s = av.step(three()[-1])
    s.edit(5.0)
    assert s.pending["node"] == "n1" and s.pending["values"]["0"]["text"] == "5."
    s.next()
    assert s.pending == {}


def test_frames_that_no_longer_hold_are_cut() -> None:
    s = av.step(three()[-1])
    s.finish()
    s.goto(2)
    s.edit(5.0)
    assert len(s.frames) == 2 and not s.complete
    s.finish()
    assert len(s.frames) == 5 and s.frames[2]["step"]["edited"] == [0]


def test_what_the_notebook_changes_is_laid_over_the_picture_after_the_cell() -> None:
    a, *_, e = three()
    s = av.step(e)
    a.grad = av.tensor(7.0)
    assert s.overlay == {}
    watching._after_cell()
    assert s.overlay == {"t0.grad": [[["grad = ", "text"], ["tensor(7.)", "number"]]]}
    s.finish()
    assert s.overlay == {} and a.grad is not None and a.grad.item() == 19.0


def test_an_error_names_the_node_where_it_happened() -> None:
    a, _, c, _, e = three()
    c.register_hook(lambda grad: 1 / 0)
    s = av.step(e)
    with pytest.raises(ZeroDivisionError):
        s.finish()
    assert s.error_node == "n0" and "ZeroDivisionError" in s.error and s.step == 0 and a.grad is None
    s.next()
    assert s.error == s.error_node == "" and s.step == 1


def test_compared_steppers_go_together_and_each_stops_at_its_own_end() -> None:
    short = av.step(av.tensor(2.0, requires_grad=True) * 2)
    long = av.step(three()[-1])
    both = av.compare(short, long, titles=("short", "long"))
    both.step = 4
    assert (short.step, long.step, both.step) == (2, 4, 4)
    long.back()
    assert (short.step, long.step, both.step) == (2, 3, 3)
    short.step = 0
    assert (short.step, long.step) == (0, 0)
    both.next()
    assert (short.step, long.step) == (1, 1)
    assert [s for s in (short, long) if "av-follows" not in s._dom_classes] == [long]  # the one toolbar reaches every step


def test_only_steppers_can_be_compared() -> None:
    with pytest.raises(NotDrawableError, match=r"compare\(a, b\) takes steppers"):
        av.compare(av.tensor(1.0))


def test_the_page_gets_the_document_the_words_and_the_forward_pass() -> None:
    av.set_language("zh")
    try:
        s = av.step(three()[-1])
    finally:
        av.set_language("en")
    assert s.picture["language"] == "zh" and s.picture["words"]["next"] != "Next"
    assert [f["op"] for f in s.picture["forward"]] == ["", "o0", "o1"]
    assert reader_of(Document)(s.picture["document"]) == s.stepper.document
    assert set(s.picture["why"]) == {t.id for t in s.stepper.document.tensors}


def test_the_page_may_run_to_a_node_and_take_an_edit_back_even_if_variables_are_called_like_ids() -> None:
    n0 = av.tensor(2.0, requires_grad=True)
    t1 = n0 * 3
    root = t1 * t1
    s = av.step(root)
    s._asked(s, {"kind": "run_to", "node": "n0"}, [])
    assert s.stepper.next_node == "n0" and s.error == ""
    s._asked(s, {"kind": "edit", "index": 0, "how": "value", "text": "5"}, [])
    s._asked(s, {"kind": "undo_edit"}, [])
    s.finish()
    assert n0.grad is not None and n0.grad.item() == 36.0


KINDS = (*FLAGS, *RULES)


@pytest.mark.parametrize("kind", ["breakpoint", "until", "unreached", "condition_error", *KINDS])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_way_to_stop_has_words(kind: str, language: str) -> None:
    s = av.step(three()[-1]).stepper
    s.cursor.stopped = Stopped(kind, "n0", "oops", "3")
    av.set_language(language)
    try:
        assert s.explanation and "{" not in s.explanation
        assert kind not in KINDS or "{" not in str(Stop(kind, "n0", 3, "oops"))
    finally:
        av.set_language("en")
