"""What a page of ours has beyond text: figures that step, links that run an example, dark pictures, links of notebooks.

`playground` is where the playground stands, seen from the first page of the docs; "" where there is none. `repository` is the
address of the repository; "" where none is known. Without them their links are left out.
"""

import linecache
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx

import autograd_viz as av
from autograd_viz.pictures.render import THEMES
from autograd_viz.site.links import fragment

BEGIN = "import autograd_viz as av"
# pages whose examples run in a browser, without PyTorch and other programs, and how many of their programs
RUNS_THERE = {"index": 9, "gallery": 9, "learn/first_pass": 9, "do/step": 1, "do/questions": 9, "understand/engine": 1}
# PyTorch, files that a browser does not write, and what takes it half a minute
NOT_THERE = re.compile(r"^import torch$|\.(?:gif|png|pdf)\"|TransformerEncoder\(", re.MULTILINE)
STEPS = {"index", "gallery"}
LARGE = "range("  # programs in a loop: their pages would take the build seconds
LEFT_OUT = re.compile(r"^.*\.backward\(\)\n|^av\.(?:save|step|explain)\(.*\n", re.MULTILINE)
LIGHT, DARK = THEMES["light"].colours(), THEMES["dark"].colours()
IN_DARK = {colour: DARK[role] for role, colour in LIGHT.items()}
HEX = re.compile(r"#[0-9a-f]{6}")


def programs(blocks: list[str]) -> list[str]:
    """The program that each block of a page ends: it has all blocks since the last that imports the package."""
    found: list[str] = []
    for text in blocks:
        found.append(text if text.startswith(BEGIN) or not found else f"{found[-1]}\n{text}")
    return found


def linked(page: str, blocks: list[str]) -> list[str]:
    """For each block the program that its link opens; "" where the browser lacks what it needs."""
    found = programs(blocks)
    few = found[: RUNS_THERE.get(page, 0)]
    return [p if p in few and not NOT_THERE.search(p) else "" for p in found]


def stepping_page(program: str, name: str, folder: Path) -> bool:
    """Write the page that steps the program's last pass, before it ran. False: nothing requires grad."""
    text = LEFT_OUT.sub("", program)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name, "exec", dont_inherit=True), names)
    roots = [v for v in names.values() if isinstance(v, av.Tensor) and v.grad_fn is not None]
    if roots:
        exec(compile("av.save(root, path)", "<docs>", "exec"), names | {"root": roots[-1], "path": folder / f"{name}.html"})
    return bool(roots)


def _frame(place: str) -> str:
    return f'<iframe class="live" src="{place}" sandbox="allow-scripts" loading="lazy" title="A stepper"></iframe>'


def _raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def add_live(app: Sphinx, page: str, doctree: nodes.document) -> None:
    """Figures that step, and links to the playground, after each example."""
    blocks = [b for b in doctree.findall(nodes.literal_block) if b.get("language") == "python"]
    texts = [f"{b.astext().rstrip()}\n" for b in blocks]
    root = "../" * page.count("/")
    folder = Path(app.outdir) / "_static" / "live"
    for number, (block, program) in enumerate(zip(blocks, linked(page, texts), strict=True)):
        place = block.parent.index(block) + 1
        if page in STEPS and LARGE not in texts[number]:
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{page}_{number}"
            if stepping_page(programs(texts)[number], name, folder):
                frame = _frame(f"{root}_static/live/{name}.html")
                folded = f'<details class="live"><summary>Step it here</summary>{frame}</details>'
                block.parent.insert(place, _raw(frame if page == "index" else folded))
                place += 1
        if program and app.config.playground:
            link = f"{root}{app.config.playground}#{fragment(program)}"
            block.parent.insert(place, _raw(f'<p class="run-here"><a href="{escape(link)}">Run it here</a></p>'))
    if page == "index":  # on a page that cannot step, this picture stands for the figure
        for picture in [p for p in doctree.findall(nodes.image) if p["uri"].endswith("stepping.gif")]:
            picture.parent.parent.remove(picture.parent)


def add_dark(app: Sphinx, page: str, doctree: nodes.document) -> None:
    """A dark picture beside each light one; the theme shows one of the two."""
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir) / image["uri"]
        svg = path.read_text(encoding="utf-8") if path.suffix == ".svg" else ""
        if not svg or not set(HEX.findall(svg)) <= IN_DARK.keys():
            continue
        first, *rest = svg.split(LIGHT["canvas"])  # behind all; elsewhere it is the colour of a box
        dark = DARK["canvas"].join([first, IN_DARK[LIGHT["canvas"]].join(rest)]) if rest else first
        target = Path(app.outdir) / "_images" / f"{path.stem}_dark.svg"
        target.parent.mkdir(exist_ok=True)
        target.write_text(HEX.sub(lambda colour: IN_DARK.get(colour[0], colour[0]), dark), encoding="utf-8")
        image["classes"].append("only-light")
        source = f"{'../' * page.count('/')}_images/{target.name}"
        image.parent.insert(
            image.parent.index(image) + 1,
            _raw(f'<img class="only-dark" src="{source}" alt="{escape(image.get("alt", ""))}">'),
        )


def add_notebooks(app: Sphinx, page: str, doctree: nodes.document) -> None:
    """Where the repository is known, each notebook's links to Colab and Binder."""
    _, is_github, name = app.config.repository.partition("https://github.com/")
    if page != "learn/notebooks" or not is_github:
        return
    files = {p.name[:2].lstrip("0"): p.name for p in (Path(app.srcdir).parent / "notebooks").glob("*.ipynb")}
    for row in list(doctree.findall(nodes.row)):
        number = row[0].astext().partition(" ")[0]
        if number in files:
            path = f"notebooks/{files[number]}"
            colab = f"https://colab.research.google.com/github/{name}/blob/HEAD/{path}"
            binder = f"https://mybinder.org/v2/gh/{name}/HEAD?labpath={quote(path, safe='')}"
            row[0] += _raw(f'<p class="elsewhere"><a href="{colab}">Colab</a> <a href="{binder}">Binder</a></p>')
    for table in list(doctree.findall(nodes.table)):
        first = f"%pip install git+{app.config.repository}"
        table.parent += nodes.paragraph("", "In Colab, first run ", nodes.literal("", first), nodes.Text("."))


def resolved(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Add to a page what it has beyond text."""
    if app.builder.format == "html":
        for add in (add_live, add_dark, add_notebooks):
            add(app, page, doctree)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_config_value("playground", "", "html", types=[str])
    app.add_config_value("repository", "", "html", types=[str])
    app.connect("doctree-resolved", resolved)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
