"""From click to paint in a real JupyterLab: steps that are recorded, and live ones that call a grad_fn in the kernel."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.lab import CHROMIUM, CHROMIUM_ARGUMENTS, LabPage, jupyterlab, write_notebook

PROGRAM = """import autograd_viz as av
x = av.tensor(0.5, requires_grad=True)
y = x
for _ in range({count}):
    y = (y * x).sin()
"""
# press a button, wait until the counter says so, then until the frame after that is painted
PRESS = """async ([button, step]) => {
  const root = document.querySelector('.av-root');
  const start = performance.now();
  root.querySelector('.av-' + button).click();
  while (!root.querySelector('.av-counter').textContent.startsWith(step + ' ')) {
    await new Promise(done => setTimeout(done, 0));
  }
  await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - start;
}"""


def summary(name: str, times: list[float]) -> str:
    median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    return f"{name:<36} median {median:6.1f} ms   p95 {p95:6.1f} ms   ({len(times)} steps)"


def measure(lab: LabPage, steps: int) -> None:
    """Forward live, back and forward again recorded."""
    page = lab.page
    page.locator(".av-root").wait_for()
    live = [page.evaluate(PRESS, ["next", i + 1]) for i in range(steps)]
    back = [page.evaluate(PRESS, ["back", i]) for i in reversed(range(steps))]
    again = [page.evaluate(PRESS, ["next", i + 1]) for i in range(steps)]
    print(summary("  live (calls the grad_fn)", live))
    print(summary("  recorded, back and forward", back + again))


def main() -> None:
    root = Path(tempfile.mkdtemp())
    with jupyterlab(root) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        for count in (2, 16):
            name = f"chain{count}.ipynb"
            write_notebook(root / name, PROGRAM.format(count=count), "av.step(y)")
            lab = LabPage(browser.new_page(viewport={"width": 1500, "height": 1200}), server, name)
            lab.run_all()
            print(f"{2 * count + 1} backward nodes")
            measure(lab, 2 * count + 1)
            lab.page.close()
        browser.close()


if __name__ == "__main__":
    main()
