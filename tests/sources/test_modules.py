"""What the document says of the modules that ran: class, the user's hooks, checkpoints."""

from __future__ import annotations

import dataclasses
import json
from contextlib import nullcontext
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.errors import DocumentError
from autograd_viz.graph import Document, document_from_json, document_to_json
from autograd_viz.graph.references import check_references
from autograd_viz.graph.surroundings import Module
from autograd_viz.graph.trace import Trace
from autograd_viz.sources.anything import graph_of

from ..libraries import BOTH, torch


def net_of(library: Any, use_reentrant: bool | None = None) -> Any:
    """Two blocks, the second with a hook; checkpointed, or not."""
    nn, checkpoint = library.nn, library.utils.checkpoint.checkpoint

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.linear(x).tanh()

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList([Block(), Block()])
            self.blocks[1].register_forward_hook(lambda *_: None)

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x) if use_reentrant is None else checkpoint(block, x, use_reentrant=use_reentrant)
            with av.scope("loss"):
                return x.sum()

    return Net()


def document_of(library: Any, net: Any) -> Document:
    x = library.ones(1, 2, requires_grad=True)
    with av.record(net) if library is torch else nullcontext():
        loss = net(x)
    found: Document = graph_of(loss, {"x": x}).document
    return found


@pytest.mark.parametrize("library", BOTH)
def test_modules_have_their_class_and_the_users_hooks(library: Any) -> None:
    net = net_of(library)
    modules = document_of(library, net).modules
    found = {m.path: (m.name, m.hooks) for m in modules if m.path}
    assert found == {
        "blocks.0": ("Block", 0), "blocks.0.linear": ("Linear", 0), "blocks.1": ("Block", 1), "blocks.1.linear": ("Linear", 0),
        "loss": ("", 0),
    }  # fmt: skip
    assert not any(m.marks for m in modules)
    assert (modules[0].path, modules[0].name) == ("", "Net")


@pytest.mark.parametrize("library", BOTH)
def test_a_module_has_the_users_expression_that_called_it(library: Any) -> None:
    called = {m.path: m.source for m in document_of(library, net_of(library)).modules}
    text = {path: source.text[source.column : source.end_column] for path, source in called.items() if source is not None}
    assert text[""] == "net(x)" and text["blocks.0.linear"] == "self.linear(x)" and text["blocks.1"].startswith("block(x)")
    assert called["loss"] is None


@pytest.mark.parametrize("library", BOTH)
@pytest.mark.parametrize("use_reentrant", [False, True])
def test_what_is_checkpointed_is_marked_and_what_is_in_it_is_not(library: Any, use_reentrant: bool) -> None:
    net = net_of(library, use_reentrant)
    marked = [m.path for m in document_of(library, net).modules if m.marks == ("checkpointed",)]
    assert marked == ["blocks.0", "blocks.1"]


@pytest.mark.torch
def test_a_reentrant_checkpoint_of_a_module_is_the_modules_op() -> None:
    net = net_of(torch, True)
    assert [o.module for o in document_of(torch, net).ops if o.node] == ["blocks.0", "blocks.1", "loss"]


@pytest.mark.torch
def test_hooks_of_pytorchs_own_are_not_counted() -> None:
    net = torch.nn.Sequential(torch.nn.utils.spectral_norm(torch.nn.Linear(2, 2)))
    assert [(m.path, m.hooks) for m in document_of(torch, _sum(net)).modules] == [("", 0), ("net", 0), ("net.0", 0)]


def _sum(net: Any) -> Any:
    class Sum(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def forward(self, x: Any) -> Any:
            return self.net(x).sum()

    return Sum()


@pytest.mark.torch
def test_what_is_compiled_is_marked() -> None:
    """Three seconds: Dynamo is loaded."""
    net = _sum(torch.nn.Sequential(torch.nn.Linear(2, 2)))
    document = document_of(torch, torch.compile(net, backend="aot_eager"))
    assert [(m.path, m.name, m.marks) for m in document.modules] == [
        ("", "Sum", ("compiled",)), ("net", "Sequential", ()), ("net.0", "Linear", ()),
    ]  # fmt: skip


def test_modules_survive_json_and_a_file_without_them_is_read() -> None:
    net = net_of(av, False)
    document = document_of(av, net)
    assert document_from_json(document_to_json(document)) == document
    plain = json.loads(document_to_json(document))
    del plain["document"]["modules"]
    assert document_from_json(json.dumps(plain)) == dataclasses.replace(document, modules=())


@pytest.mark.parametrize(
    ("modules", "reason"), [((Module("a"), Module("a")), "twice"), ((Module("a", marks=("fast",)),), "marks other than")]
)
def test_modules_that_do_not_fit_are_refused(modules: tuple[Module, ...], reason: str) -> None:
    x = av.ones(1, requires_grad=True)
    document = dataclasses.replace(graph_of(x * 2, {}).document, modules=modules)
    with pytest.raises(DocumentError, match=reason):
        check_references(document_from_json(document_to_json(document)), Trace())
