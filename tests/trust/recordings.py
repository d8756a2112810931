"""Real recordings to be damaged, of either library, and everything that can be done with one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import autograd_viz as av
from autograd_viz.cli.tensor_commands import term
from autograd_viz.errors import AutogradVizError
from autograd_viz.graph.codec import recording_from_json, recording_to_json
from autograd_viz.graph.trace import Trace
from autograd_viz.pictures.render import text_picture
from autograd_viz.stepper.recorded import Recording
from autograd_viz.verbs.formats import WRITERS, Wishes
from autograd_viz.verbs.save import subject_of

from ..figures import figure


def written(root: Any, names: dict[str, Any]) -> str:
    """What `save` writes of a tensor."""
    return WRITERS[".json"](subject_of(root, names), Wishes()).decode()


def small(torch: Any) -> tuple[Any, dict[str, Any]]:
    """A hook, a kept grad, two outputs, a change in place, a cut, a grad that is there, complex numbers and a bad one."""
    x = torch.tensor([1.0, -2.0, float("inf")], requires_grad=True)
    w = torch.tensor([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]], requires_grad=True)
    w.grad = torch.ones(2, 3)
    y = (w * x).relu()
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    first, second = y.unbind(0)
    best, at = second.max(0)
    z = first * best * at + x.detach()
    z[0] = z[1] * 3
    c = torch.view_as_complex(z[:2].reshape(1, 2)) * (1 + 2j)
    return (z * z).sum() + c.real.sum(), {"x": x, "w": w, "y": y, "z": z, "first": first}


def medium(torch: Any) -> tuple[Any, dict[str, Any]]:
    """Enough for groups, and arrays that are summed up."""
    x = torch.linspace(-1.0, 1.0, 200).reshape(10, 20).requires_grad_(True)
    ws = [torch.full((20, 20), 0.1, requires_grad=True) for _ in range(12)]
    h = x
    for w in ws:
        h = torch.tanh(h @ w) + h
    loss = (h - torch.ones(20)).pow(2).mean()
    return loss, {"x": x, **{f"layers.{i}.weight": w for i, w in enumerate(ws)}, "loss": loss}


def all_of_core() -> list[str]:
    """Recordings of autograd_viz."""
    found = [written(*make(av)) for make in (small, medium)]
    for number in (1, 4, 5, 6):
        root, names = figure(number, before=True)
        found.append(written(root, names if isinstance(names, dict) else {}))
    freed, names = small(av)
    freed.backward()
    return [*found, written(freed, names)]


def all_of_torch(torch: Any) -> list[str]:
    """The same of PyTorch: recorded, and reconstructed."""
    with av.record():
        recorded = medium(torch)
    return [written(*recorded), written(*small(torch))]


def loaded(text: str) -> Recording:
    return Recording(*recording_from_json(text))


def tried(rec: Recording, folder: Path, *, pictures: bool = False, films: bool = False) -> None:
    """Every verb; an error of ours is an answer too, but for a recording that is whole there is none."""
    assert loaded(recording_to_json(rec.document, rec.trace).encode("utf-8", "backslashreplace").decode()) is not None
    repr(rec), repr(av.show(rec))
    for collapse in (True, False):
        av.show(rec, collapse=collapse, theme="waite")
    s = av.step(rec)
    positions = len(rec.document.ops)
    for step in range(-positions, 1, max(1, positions // 7)):
        s.goto(step)
        s.drawing.svg(s.stepper.state, s._theme)
    run_to_the_end(s)
    s.still()
    text_picture(rec.document, s.stepper.state, s.stepper.next_node)
    for t in rec.document.tensors[:3]:
        s.stepper.goto(0)
        run_to_the_end(s.stepper, lambda t=t: s.stepper.until(t))
    term(rec.stepper(), iter("nnbfrq"), io.StringIO())
    s.close()
    for suffix in (".svg", ".dot", ".mmd", ".json", ".html", *[".png"] * pictures, *[".gif"] * films):
        save(rec, folder / f"x{suffix}")


def run_to_the_end(s: Any, move: Any = None) -> None:
    """As far as it was recorded."""
    try:
        (move or s.finish)()
    except AutogradVizError as error:
        if "the recording ends here" not in str(error):
            raise


def save(rec: Recording, path: Path) -> None:
    """At the end of its pass, if that was recorded."""
    whole = Recording(rec.document, Trace(rec.trace.steps, True, rec.trace.start))
    av.save(whole, path, step="final", duration=0.01, scale=0.5 if path.suffix in (".gif", ".png") else None)
