"""The stepper: a press and a whole pass in Python (pressing.py); then in a real JupyterLab click to paint, first render,
panning, and how large a notebook gets.

python -m benchmarks.stepping [10 100 1000]
python -m benchmarks.stepping python           # only Python
"""

from __future__ import annotations

import contextlib
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks import pressing
from tests.browser.lab import CHROMIUM, CHROMIUM_ARGUMENTS, LabPage, jupyterlab, write_notebook

MOST = 40  # presses that are timed in each direction
PAUSE_MS = 150  # between two presses
RENDERS = 8
PROGRAM = """import autograd_viz as av
x = av.tensor(0.5, requires_grad=True)
y = x
for _ in range({count}):
    y = (y * x).sin()
"""
# what JupyterLab needs to run a cell and to show a widget, whatever is in it
EMPTY = """import anywidget
class Empty(anywidget.AnyWidget):
    _esm = "export default { render({ el }) { el.innerHTML = '<svg class=av-picture></svg>'; } };"
"""
# Before a press: from the time stamp of the click to the end of the first frame that shows the step. What a page asks for in a
# frame runs before that frame is painted, a timer set there runs after it; the listener comes before the widget's own, so the
# timer does not wait for what the widget does after the frame. The first beat of a live step, what is called and what arrives
# there, needs no answer of the kernel.
WATCH = """([button, step]) => {
  const root = document.querySelector('.av-root');
  const counter = root.querySelector('.av-counter');
  window.avPainted = new Promise(done => window.addEventListener('click', event => {
    let marked;
    const look = () => {
      const isShown = counter.textContent.startsWith(step + ' ');
      const isMarked = isShown || root.classList.contains('av-asked');
      setTimeout(() => {
        const now = performance.now() - event.timeStamp;
        if (isMarked) marked ??= now;
        if (isShown) done([marked, now]);
      });
      if (!isShown) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { once: true, capture: true }));
  const { x, y, width, height } = root.querySelector('.av-' + button).getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
# from running the cell to the end of the frame in which the picture stands: looked for by a timer after each frame, because
# what runs in a frame before the widget's own callback would find it one frame late
RENDER = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  const before = new Set(document.querySelectorAll('.av-picture'));
  panel.content.activeCellIndex = panel.content.widgets.length - 1;
  const start = performance.now();
  window.jupyterapp.commands.execute('notebook:run-cell');
  const isShown = picture => !before.has(picture) && picture.style.display !== 'none';
  return await new Promise(done => {
    const look = () => requestAnimationFrame(() => setTimeout(() => {
      if ([...document.querySelectorAll('.av-picture')].some(isShown)) done(performance.now() - start);
      else look();
    }));
    look();
  });
}"""
# the longest and the mean time between frames while the picture is dragged
FRAMES = """async () => {
  const times = [];
  let last = performance.now(), going = true;
  const tick = now => { times.push(now - last); last = now; if (going) requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  await new Promise(done => setTimeout(done, 1500));
  going = false;
  const all = times.slice(2);
  return 1000 * all.length / all.reduce((a, b) => a + b, 0);
}"""


def summary(name: str, times: list[float]) -> str:
    median = statistics.median(times)
    p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    return f"{name:<36} median {median:6.1f} ms   p95 {p95:6.1f} ms   ({len(times)} times)"


def press(lab: LabPage, button: str, step: int) -> tuple[float, float]:
    """A real click at a random moment between two frames, at a hurried pace: ms to the first beat, and to the step."""
    lab.page.wait_for_timeout(PAUSE_MS + 17 * random.random())
    lab.page.mouse.move(*lab.page.evaluate(WATCH, [button, step]))
    lab.page.mouse.down()
    lab.page.mouse.up()
    marked, shown = lab.page.evaluate("() => window.avPainted")
    return float(marked), float(shown)


def presses(lab: LabPage, steps: int) -> None:
    """Forward live, back and forward again recorded."""
    live = [press(lab, "next", i + 1) for i in range(steps)]
    back = [press(lab, "back", i) for i in reversed(range(steps))]
    again = [press(lab, "next", i + 1) for i in range(steps)]
    print(summary("  live: the first beat of the step", [marked for marked, _ in live]))
    print(summary("  live: the kernel's answer", [shown for _, shown in live]))
    print(summary("  recorded, back and forward", [shown for _, shown in back + again]))


def first_render(lab: LabPage) -> float:
    """The last cell again, when the page has come to rest."""
    lab.page.wait_for_timeout(1000)
    return float(lab.page.evaluate(RENDER))


def panning(lab: LabPage) -> float:
    """Frames a second while the mouse drags the picture."""
    box = lab.page.locator(".av-stage").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.evaluate(f"window.avFrames = ({FRAMES})()")
    for i in range(60):
        lab.page.mouse.move(x - 3 * i, y - 2 * i)
        lab.page.wait_for_timeout(16)
    lab.page.mouse.up()
    return float(lab.page.evaluate("() => window.avFrames"))


def renders(lab: LabPage, what: str) -> None:
    lab.run_all()
    lab.page.locator(".av-picture").first.wait_for(state="attached", timeout=60_000)
    print(summary(f"  first render, {what}", [first_render(lab) for _ in range(RENDERS)]))


def measure(lab: LabPage, root: Path, name: str, nodes: int) -> None:
    print(f"{nodes} backward nodes")
    renders(lab, "every box")
    presses(lab, min(MOST, nodes))
    print(f"  {'panning':<34} {panning(lab):6.0f} frames a second")
    lab.page.evaluate("async () => { await window.jupyterapp.commands.execute('docmanager:save'); }")
    print(f"  {'the notebook, saved':<34} {(root / name).stat().st_size / 1000:6.0f} kB")


def main() -> None:
    pressing.show()
    if sys.argv[1:] == ["python"]:
        return
    root = Path(tempfile.mkdtemp())
    sizes = [int(a) for a in sys.argv[1:]] or [10, 100, 1000]
    with jupyterlab(root) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)

        @contextlib.contextmanager
        def opened(name: str, *cells: str) -> Iterator[LabPage]:
            write_notebook(root / name, *cells)
            lab = LabPage(browser.new_page(viewport={"width": 1500, "height": 1200}), server, name)
            yield lab
            lab.page.close()

        print("from running the cell to the frame in which the picture stands")
        with opened("empty.ipynb", EMPTY, "Empty()") as lab:
            renders(lab, "an empty widget")
        for nodes in sizes:
            program, name = PROGRAM.format(count=nodes // 2), f"chain{nodes}.ipynb"
            with opened(name, program, "av.step(y, collapse=False)") as lab:
                measure(lab, root, name, nodes // 2 * 2 + 1)
            with opened(f"groups{nodes}.ipynb", program, "av.step(y)") as lab:
                renders(lab, "as drawn unasked")
        browser.close()


if __name__ == "__main__":
    main()
