"""An op with several results, of which not all are differentiable: it is one op with several exits."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

import autograd_viz as av  # noqa: E402
from autograd_viz.answers.causes.why import Why  # noqa: E402
from autograd_viz.sources.pytorch.reading.graph import TorchGraph  # noqa: E402
from autograd_viz.sources.twin.graph import CoreGraph  # noqa: E402

from ..torch_features import leaf  # noqa: E402

pytestmark = pytest.mark.torch


def exits(document: Any) -> dict[str, list[str | None]]:
    """The names of what each op has made."""
    names = {t.id: t.name for t in document.tensors}
    return {op.name: [names.get(o) for o in op.outputs] for op in document.ops}


def test_the_indices_of_a_maximum_leave_the_op_that_found_them() -> None:
    documents = []
    for module, graph in ((torch, TorchGraph), (av, CoreGraph)):
        x = module.tensor([[1.0, 3.0], [2.0, 0.0]], requires_grad=True)
        with av.record():
            best, at = x.max(0)
            loss = (best * module.tensor([1.0, 2.0, 3.0])[at]).sum()
        documents.append(graph([loss], {"best": best, "at": at}).document)
    assert exits(documents[0])["Max"] == ["best", "at"]
    assert exits(documents[0]) == exits(documents[1])
    assert all(op.node is not None for op in documents[0].ops if op.name == "Max")


def test_a_result_that_nothing_reads_is_drawn_if_a_variable_holds_it() -> None:
    with av.record():
        mantissa, exponent = torch.frexp(leaf(3))
        loss = mantissa.sum()
    assert exits(TorchGraph([loss], {"exponent": exponent}).document)["Frexp"] == [None, "exponent"]
    assert exits(TorchGraph([loss], {}).document)["Frexp"] == [None]


def test_what_a_layer_keeps_for_itself_is_no_box() -> None:
    """Saved statistics, indices and the total weight are rows of the nodes that keep them."""
    norm, x = torch.nn.BatchNorm2d(2), torch.randn(2, 2, 4, 4)
    with av.record():
        loss = functional.cross_entropy(functional.max_pool2d(norm(x), 2).flatten(1), torch.tensor([1, 0]))
    document = TorchGraph([loss], {"x": x}).document
    assert [op.name for op in document.ops] == [
        *("NativeBatchNorm", "MaxPool2DWithIndices", "View", "LogSoftmax", "NllLoss"),
    ]
    assert all(op.node is not None and len(op.outputs) == 1 for op in document.ops)
    kept = {s.name for n in document.nodes for s in n.saved if s.value is not None}
    assert {"result1", "total_weight"} <= kept


def test_batch_norm_is_told_with_the_statistics_that_it_read() -> None:
    norm, x = torch.nn.BatchNorm1d(1), torch.tensor([[1.0], [5.0]])
    with av.record():
        loss = norm(x).sum()
    assert norm.running_mean.item() != 0.0
    [op] = [op for op in TorchGraph([loss], {}).document.ops if op.name == "NativeBatchNorm"]
    tensors = {t.id: t for t in TorchGraph([loss], {}).document.tensors}
    assert [tensors[o.tensor].value.text for o in op.inputs[3:] if o.tensor is not None] == ["[0.]", "[1.]"]


def test_why_such_a_result_has_no_grad() -> None:
    with av.record():
        scores = leaf(3)[None].log_softmax(1)
        loss, total = torch.ops.aten.nll_loss_forward(scores, torch.tensor([1]), None, 1, -100)
    graph = TorchGraph([loss], {"total": total})
    said = Why(graph.document).at_start()[graph.tensor_id(total)]
    assert said == "grad is None: this result of NllLoss is not differentiable."
