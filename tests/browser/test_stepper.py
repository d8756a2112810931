"""What a person does with the stepper in a real JupyterLab, and what the kernel says meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .lab import LabPage

pytestmark = pytest.mark.browser

IMPORT = "import autograd_viz as av"
PROGRAM = """a = av.tensor(2.0, requires_grad=True)
b = av.tensor(3.0, requires_grad=True)
c = a * b
d = av.tensor(4.0, requires_grad=True)
e = c * d"""
STEP = "s = av.step(e)\ns"
LEAVES = {"a": "t0", "b": "t1", "d": "t3"}
# after each step: the grads of a, b, d
AFTER = [
    ("None", "None", "None"),
    ("None", "None", "None"),
    ("None", "None", "tensor(6.)"),
    ("None", "None", "tensor(6.)"),
    ("tensor(12.)", "None", "tensor(6.)"),
    ("tensor(12.)", "tensor(8.)", "tensor(6.)"),
]


class Stepping:
    """The stepper's widget in a page."""

    def __init__(self, lab: LabPage, nth: int = 0) -> None:
        self.lab, self.page = lab, lab.page
        self.widget = lab.page.locator(".av-root").nth(nth)
        self.widget.wait_for()

    def press(self, button: str) -> None:
        self.widget.locator(f".av-{button}").click()

    def wait_for_step(self, step: int) -> None:
        self.widget.locator(".av-counter", has_text=re.compile(rf"^{step} / ")).wait_for()

    def text(self, at: str) -> str:
        """What the picture says at an address."""
        return str(self.widget.locator(f'[data-at="{at}"]:not(.arrow)').first.text_content())

    def grads(self) -> tuple[str, ...]:
        return tuple(self.text(f"{id}.grad").removeprefix("grad = ") for id in LEAVES.values())

    def kernel_grads(self) -> tuple[str, ...]:
        return tuple(self.lab.run_code("print(a.grad, b.grad, d.grad, sep='|')").split("|"))

    def wait_for_kernel(self, step: int) -> None:
        """The page tells the kernel of recorded steps a little later."""
        self.lab.wait_for_code("print(s.step)", str(step))

    def sentence(self) -> str:
        return str(self.widget.locator(".av-sentence").text_content())


@pytest.fixture
def stepping(open_notebook: Callable[..., LabPage]) -> Stepping:
    lab = open_notebook(IMPORT, PROGRAM, STEP)
    lab.run_all()
    return Stepping(lab)


def test_a_press_shows_what_is_called_and_what_arrives_there_before_the_kernel_has_answered(
    open_notebook: Callable[..., LabPage], tmp_path: Path
) -> None:
    answer = tmp_path / "answer"
    hook = f"""import pathlib, time
def wait(gradient):
    while not pathlib.Path({str(answer)!r}).exists():
        time.sleep(0.01)
c.register_hook(wait)"""
    lab = open_notebook(IMPORT, f"{PROGRAM}\n{hook}", STEP)
    lab.run_all()
    stepping = Stepping(lab)
    looks = """root => ['.av-due-ring', '.arriving > .way'].map(name => {
        const { strokeDasharray, stroke } = getComputedStyle(root.querySelector(name));
        return [strokeDasharray, stroke];
    })"""
    for step in (1, 2):
        stepping.press("next")
        stepping.wait_for_step(step)
    [[dots, colour], [_, waiting]] = stepping.widget.evaluate(looks)
    assert dots != "none" and waiting != colour
    stepping.press("next")
    expect(stepping.widget).to_have_class(re.compile("av-asked"))
    assert stepping.widget.evaluate(looks) == [["none", colour], ["none", colour]]
    assert set(stepping.widget.locator(".arriving.label").all_text_contents()) == {"4.0"}
    assert stepping.text("t0.grad") == "grad = None"
    answer.touch()
    stepping.wait_for_step(3)
    expect(stepping.widget).not_to_have_class(re.compile("av-asked"))


def test_each_press_of_next_runs_one_grad_fn_and_back_takes_it_back(stepping: Stepping) -> None:
    for step in range(6):
        stepping.wait_for_step(step)
        assert stepping.grads() == AFTER[step] == stepping.kernel_grads()
        assert int(stepping.lab.run_code("print(s.step)")) == step
        if step < 5:
            stepping.press("next")
    assert stepping.text("next:n1.0") == "4.0" and stepping.text("grad_fn:t4") == "1.0"
    assert "freed" in stepping.text("n0.saved")
    assert stepping.sentence() == "AccumulateGrad sets b.grad to 8.0; it was None. The backward pass is complete."
    for step in range(4, -1, -1):
        stepping.press("back")
        stepping.wait_for_step(step)
        stepping.wait_for_kernel(step)
        assert stepping.grads() == AFTER[step] == stepping.kernel_grads()
    assert stepping.text("next:n1.0") == "" and "freed" not in stepping.text("n0.saved")


def test_what_is_recorded_is_never_sent_back_to_the_kernel(stepping: Stepping) -> None:
    stepping.press("next")
    stepping.wait_for_step(1)
    stepping.lab.run_code("kept = s.frames")
    stepping.press("back")
    stepping.wait_for_kernel(0)
    assert stepping.lab.run_code("print(kept is s.frames)") == "True"


def test_the_node_that_runs_is_lit_and_its_formula_is_shown(stepping: Stepping) -> None:
    stepping.press("next")
    stepping.wait_for_step(1)
    lit = stepping.widget.locator(".lit")
    expect(lit).to_have_count(1)
    expect(lit).to_have_attribute("data-at", "n1")
    formulas = stepping.widget.locator(".av-formula").all_text_contents()
    assert formulas == [
        "to c: (gradient of e) × d = 1.0 × 4.0 = 4.0",
        "to d: (gradient of e) × c = 1.0 × 6.0 = 6.0",
    ]


def test_finish_reset_and_the_slider_move_the_kernel_too(stepping: Stepping) -> None:
    stepping.press("finish")
    stepping.wait_for_step(5)
    assert stepping.kernel_grads() == AFTER[5]
    stepping.press("reset")
    stepping.wait_for_step(0)
    stepping.wait_for_kernel(0)
    assert stepping.kernel_grads() == AFTER[0]
    stepping.widget.locator(".av-slider").fill("4")
    stepping.wait_for_step(4)
    stepping.wait_for_kernel(4)
    assert stepping.grads() == AFTER[4] == stepping.kernel_grads()


def test_keys_step_and_jupyterlab_does_not_get_them(stepping: Stepping) -> None:
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"
    before = stepping.page.evaluate(cells)
    stepping.widget.focus()
    for key, step in [("ArrowRight", 1), ("n", 2), ("ArrowLeft", 1), ("End", 5), ("b", 4), ("Home", 0), ("f", 5), ("r", 0)]:
        stepping.page.keyboard.press(key)
        stepping.wait_for_step(step)
    for key in ("d", "d", "a", "x", "z", "Enter", "Escape"):
        stepping.page.keyboard.press(key)
    assert stepping.page.evaluate(cells) == before
    assert stepping.page.evaluate("() => document.activeElement.classList.contains('av-root')")


def test_shortcuts_with_ctrl_are_jupyterlabs_from_the_widget_too(stepping: Stepping) -> None:
    dirty = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
    assert stepping.page.evaluate(dirty)
    stepping.widget.focus()
    stepping.page.keyboard.press("Control+s")
    stepping.page.wait_for_function(f"async () => !({dirty})()")


def test_play_runs_to_the_end_at_the_chosen_speed_and_pauses(stepping: Stepping) -> None:
    stepping.widget.locator(".av-speed").select_option("2")
    stepping.press("play")
    counter = stepping.widget.locator(".av-counter")
    counter.filter(has_text=re.compile(r"^[234] / ")).wait_for()  # a busy page may show no step for long enough to be seen
    stepping.press("play")
    stepping.page.wait_for_timeout(300)  # a step that was on its way is there
    paused = counter.text_content()
    stepping.page.wait_for_timeout(900)  # time for another step
    assert counter.text_content() == paused
    assert stepping.lab.run_code("print(s.step)").strip() == str(paused).partition(" ")[0] in ("2", "3", "4")
    stepping.press("play")
    stepping.wait_for_step(5)


def test_moves_from_code_move_the_picture(stepping: Stepping) -> None:
    stepping.lab.run_code("s.next(); s.next()")
    stepping.wait_for_step(2)
    assert stepping.grads() == AFTER[2]
    stepping.lab.run_code("s.back()")
    stepping.wait_for_step(1)
    assert stepping.grads() == AFTER[1]


def test_steps_taken_before_the_widget_is_shown_are_shown(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, PROGRAM, "s = av.step(e)\ns.next(); s.next()\ns")
    lab.run_all()
    stepping = Stepping(lab)
    stepping.wait_for_step(2)
    assert stepping.grads() == AFTER[2]
    stepping.press("back")
    stepping.wait_for_step(1)
    assert stepping.grads() == AFTER[1]


def test_presses_faster_than_the_kernel_all_count(stepping: Stepping) -> None:
    stepping.widget.locator(".av-next").evaluate("b => { b.click(); b.click(); b.click(); }")
    stepping.wait_for_step(3)
    assert stepping.kernel_grads() == AFTER[3]


def test_presses_count_while_the_kernel_is_busy_with_the_ones_before(open_notebook: Callable[..., LabPage]) -> None:
    """Jupyter hands a question to another thread when the one before has been answered: two at once would be swapped."""
    slow = "\nimport time\nfor t in (a, b, c, d, e):\n    t.register_hook(lambda g: time.sleep(0.2))"
    lab = open_notebook(IMPORT, PROGRAM + slow, STEP)
    lab.run_all()
    stepping = Stepping(lab)
    presses = "b => { for (const ms of [0, 60, 120, 300]) setTimeout(() => b.click(), ms); }"
    stepping.widget.locator(".av-next").evaluate(presses)
    stepping.wait_for_step(4)
    assert stepping.kernel_grads() == AFTER[4]


def test_the_picture_after_stepping_is_the_picture_that_python_draws(stepping: Stepping) -> None:
    """Every word at every address, in the page and in the saved SVG, after three steps."""
    for step in (1, 2, 3):
        stepping.press("next")
        stepping.wait_for_step(step)
    collect = """(svg) => [...svg.querySelectorAll('.row[data-at], .label')]
      .map(e => [e.dataset.at, [...e.querySelectorAll('text')].map(t => t.textContent).join('|')])"""
    shown = dict(stepping.widget.locator(".av-picture").evaluate(collect))
    source = stepping.lab.run_code("av.save(s, 'saved.svg'); print(open('saved.svg').read())")
    drawn = dict(
        stepping.page.evaluate(f"(text) => ({collect})(new DOMParser().parseFromString(text, 'image/svg+xml'))", source)
    )
    assert shown == drawn and len(shown) > 30


def test_an_error_is_shown_under_the_widget_and_the_stepper_stays_usable(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, PROGRAM, STEP, "e.backward()")
    lab.run_all()
    stepping = Stepping(lab)
    stepping.press("next")
    error = stepping.widget.locator(".av-error")
    error.filter(has_text="Trying to backward through the graph a second time").wait_for()
    assert stepping.lab.run_code("print(s.step, a.grad)") == "0 tensor(12.)"


def test_a_name_that_looks_like_markup_is_drawn_as_text(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(
        IMPORT, "names = {'</svg><script>window.hacked=1</script>': av.tensor(2.0, requires_grad=True)}",
        "x = names['</svg><script>window.hacked=1</script>'] * 3", "av.step(x)",
    )  # fmt: skip
    lab.run_all()
    stepping = Stepping(lab)
    stepping.press("finish")
    stepping.wait_for_step(2)
    assert "script" in stepping.text("t0")
    assert lab.page.evaluate("() => window.hacked") is None
    assert stepping.widget.locator("script").count() == 0


def test_lines_written_in_the_page_keep_their_indentation(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, "a = av.tensor([1.0, 2.0], requires_grad=True)\nb = (a * a).sum()", "av.step(b)")
    lab.run_all()
    stepping = Stepping(lab)
    stepping.press("finish")
    stepping.wait_for_step(3)
    second = stepping.widget.locator('.row[data-at="t0.grad"] text').nth(1)
    assert second.evaluate("e => e.getSubStringLength(0, 2)") > 8  # the two spaces before [2., 4.])


def test_two_views_of_one_stepper_agree(open_notebook: Callable[..., LabPage]) -> None:
    lab = open_notebook(IMPORT, PROGRAM, STEP, "s")
    lab.run_all()
    first, second = Stepping(lab), Stepping(lab, 1)
    first.press("next")
    second.wait_for_step(1)
    second.press("finish")
    first.wait_for_step(5)
    assert first.grads() == second.grads() == AFTER[5]


def test_the_stepper_follows_jupyterlabs_theme(stepping: Stepping) -> None:
    ground = stepping.widget.locator(".av-stage .f-canvas").first
    fill = "e => getComputedStyle(e).fill"
    assert ground.evaluate(fill) == "rgb(255, 255, 255)"
    with stepping.lab.dark():
        stepping.page.wait_for_timeout(300)
        assert ground.evaluate(fill) == "rgb(15, 20, 25)"
