"""What torch.save and torch.load do with states: any value comes back from an archive, under any name."""

from __future__ import annotations

import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

VALUES = {
    "a tensor": lambda m: m.arange(6).reshape(2, 3),
    "a leaf": lambda m: m.ones(2, requires_grad=True),
    "with a graph": lambda m: m.ones(2, requires_grad=True) * 2,
    "a bool": lambda m: m.tensor(True),
    "complex": lambda m: m.tensor([1 + 2j]),
    "empty": lambda m: m.zeros(0, 3),
    "a state_dict": lambda m: m.nn.BatchNorm1d(2).state_dict(),
    "a checkpoint": lambda m: {"epoch": 3, "model": m.nn.Linear(2, 1).state_dict(), "opt": stepped(m).state_dict()},
    "plain values": lambda m: [None, True, 3, 2.5, "text", (1, (2,)), [], {}, {1: "a", None: 2, False: 3, 2.5: 4}],
    "ordered": lambda m: OrderedDict(b=1, a=OrderedDict()),
    "arrays": lambda m: {"array": np.eye(2), "scalar": np.float64(2.5), "count": np.int32(3)},
    "kinds": lambda m: {"dtype": m.float64, "size": m.ones(2, 3).shape},
    "parameters": lambda m: [m.ones(2), m.zeros(1)],
    "a schedule": lambda m: m.optim.lr_scheduler.MultiStepLR(stepped(m), [2]).state_dict()["milestones"],
}


def stepped(m: Any) -> Any:
    w = m.ones(2, requires_grad=True)
    optimizer = m.optim.Adam([w], lr=0.1)
    (w * w).sum().backward()
    optimizer.step()
    return optimizer


def plain(value: Any) -> Any:
    """What is compared: the value without the library that made it."""
    if isinstance(value, av.Tensor | torch.Tensor):
        values = value.detach().numpy()
        values = (np.round(values, 6) if values.dtype.kind in "fc" else values).tolist()
        return ["tensor", str(value.dtype), tuple(value.shape), value.requires_grad, value.is_leaf, values]
    if isinstance(value, dict):
        pairs = [(k, plain(v)) for k, v in value.items()]
        return ["ordered", pairs] if isinstance(value, OrderedDict) else sorted(pairs, key=str)
    if isinstance(value, list | tuple):
        return [type(value).__name__, [plain(v) for v in value]]
    return [type(value).__name__, str(value)]


@pytest.mark.parametrize("name", ["m.ckpt", "m.pt", "m.pth", "m.bin", "m.pth.tar", "model", ".hidden", "epoch.3", "m.npz"])
def test_a_state_is_written_and_read_under_any_name(tmp_path: Path, name: str) -> None:
    model = av.nn.Linear(2, 3)
    for path in (tmp_path / name, str(tmp_path / name)):
        av.save(model.state_dict(), path)
        assert plain(av.load(path)) == plain(model.state_dict())
    with np.load(tmp_path / name) as archive:
        assert {archive[n].shape for n in archive if n != "__structure__"} == {(3, 2), (3,)}


@pytest.mark.parametrize("value", VALUES)
def test_every_value_comes_back_as_from_pytorch(tmp_path: Path, value: str) -> None:
    """The first optimizer of PyTorch imports its compiler, which takes some seconds."""
    found = []
    for m in (av, torch):
        m.manual_seed(0)
        options = {} if m is av else {"weights_only": False}
        saved, file = VALUES[value](m), io.BytesIO()
        m.save(saved, tmp_path / "x.pt")
        m.save(saved, file)
        file.seek(0)
        found.append([plain(m.load(tmp_path / "x.pt", map_location="cpu", **options)), plain(m.load(file, **options))])
    assert found[0] == found[1]


def test_a_training_goes_on_from_its_file(tmp_path: Path) -> None:
    def trained(restart: bool) -> list[Any]:
        model, log = av.nn.Linear(2, 1), []
        with av.no_grad():
            for p in model.parameters():
                p.fill_(0.5)
        optimizer = av.optim.Adam(model.parameters(), lr=0.1)
        rates = av.optim.lr_scheduler
        schedule = rates.SequentialLR(optimizer, [rates.LinearLR(optimizer, 0.5), rates.MultiStepLR(optimizer, [2, 3])], [2])
        for step in range(6):
            if restart and step == 3:
                parts = {"m": model, "o": optimizer, "s": schedule}
                av.save({name: part.state_dict() for name, part in parts.items()}, tmp_path / "last.ckpt")
                saved = av.load(tmp_path / "last.ckpt", weights_only=True)
                for name, part in parts.items():
                    part.load_state_dict(saved[name])
            loss = model(av.ones(4, 2)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            log.append((loss.item(), schedule.get_last_lr()))
        return log

    assert trained(restart=True) == trained(restart=False)


def test_a_picture_stays_a_picture(tmp_path: Path) -> None:
    loss = av.ones(2, requires_grad=True).sum()
    av.save(loss, tmp_path / "loss.svg")
    assert (tmp_path / "loss.svg").read_text().startswith("<svg")
    av.save(av.step(loss), tmp_path / ".svg")
    for x, name in ((loss, "loss.jpg"), (av.step(loss), "loss.pt"), (av.show(loss), "loss.pt")):
        with pytest.raises(av.UnknownChoiceError, match="suffix"):
            av.save(x, tmp_path / name)
    with pytest.raises(av.UnknownChoiceError, match=r"choose one of: .json, .npz"):
        av.load(tmp_path / "loss.svg")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (lambda: av.nn.Linear(1, 1), r"state is a Linear; .* save its state: save\(x.state_dict\(\), path\)"),
        (lambda: {"opt": stepped(av)}, r"state\['opt'\] is a Adam; .* save its state"),
        (lambda: torch.nn.Linear(1, 1).state_dict(), r"state\['weight'\] is a PyTorch Tensor; .* are for torch.save"),
        (lambda: {"args": [object()]}, r"state\['args'\]\[0\] is a object; a .npz holds tensors, numbers, texts"),
        (lambda: {(1, 2): 3}, r"state has the key \(1, 2\); keys must be"),
    ],
)
def test_what_an_archive_cannot_hold_is_refused_by_name(tmp_path: Path, value: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        av.save(value(), tmp_path / "x.pt")
    assert not (tmp_path / "x.pt").exists()


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickle_is_refused_by_name(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "a.pt").write_bytes(pickle.dumps({"w": 1}, protocol))
    torch.save({"w": torch.ones(1)}, tmp_path / "b.pt")
    torch.save({"w": torch.ones(1)}, tmp_path / "c", _use_new_zipfile_serialization=False)
    for name in ("a.pt", "b.pt", "c"):
        with pytest.raises(av.CannotReadError, match=r"it is a pickle, as PyTorch writes it, which can run any code"):
            av.load(tmp_path / name)


def test_the_way_that_the_refusal_names_leads_there(tmp_path: Path) -> None:
    state = torch.nn.Linear(2, 1).state_dict()
    np.savez(tmp_path / "model.npz", **{name: t.numpy() for name, t in state.items()})
    model = av.nn.Linear(2, 1)
    model.load_state_dict(av.load(tmp_path / "model.npz"))
    assert model.weight.tolist() == state["weight"].tolist()


@pytest.mark.parametrize("content", [b"", b"x", b"PK\x03\x04", b"hello" * 100])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(av.CannotReadError, match=r"cannot read .*x.pt"):
        av.load(tmp_path / "x.pt")
