"""A document or archive from elsewhere is read whole or refused, at once; what has been read is drawn, stepped and saved."""

from __future__ import annotations

import io
import json
import linecache
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.graph import Document, Engine, Node, Step, Trace, limits
from autograd_viz.graph.codec import recording_from_json, recording_to_json
from autograd_viz.stepper.recorded import Recording
from autograd_viz.twin.core.tensor import storage
from autograd_viz.twin.core.tensor.storage import state_bytes

from .. import effort
from . import bombs, damage, recordings

SEEDS = range(0, 2000, 1 if effort.THOROUGH else 60)  # minutes, or a few seconds: most of what is read is drawn and stepped


def tried(texts: list[str], seeds: range, folder: Path) -> Counter[str]:
    """Each seed's document is loaded or refused; how often."""
    ends: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        text = damage.changed(texts[seed // seeds.step % len(texts)], rng)
        try:
            rec = recordings.loaded(text)
        except av.DocumentError:
            ends["refused"] += 1
            continue
        ends["loaded"] += 1
        try:
            recordings.tried(rec, folder, pictures=seed % 50 == 0, films=seed % 1000 == 0)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    return ends


# -- documents ------------------------------------------------------------------------------------------------------------


def test_a_damaged_document_is_refused_or_does_all_that_a_whole_one_does(tmp_path: Path) -> None:
    """Takes seconds: fifty documents, of which a dozen are stepped and written in five formats."""
    small, large, *others = recordings.all_of_core()
    ends = tried([small, small, *others, *others, large], SEEDS, tmp_path)
    assert min(ends["refused"], ends["loaded"]) > len(SEEDS) // 10, ends


@pytest.mark.torch
def test_so_is_a_damaged_document_of_pytorch(tmp_path: Path) -> None:
    """Takes seconds, as the one before."""
    torch = pytest.importorskip("torch")
    small, large = recordings.all_of_torch(torch)
    ends = tried([*[small] * 9, large], SEEDS[::2], tmp_path)
    assert min(ends["refused"], ends["loaded"]) > len(SEEDS) // 40, ends


@pytest.mark.parametrize("which", range(7))
def test_a_whole_one_does_all_that_too(tmp_path: Path, which: int) -> None:
    """Takes a second or two: every format, a film too."""
    recordings.tried(recordings.loaded(recordings.all_of_core()[which]), tmp_path, pictures=True, films=which > 1)


@pytest.fixture(scope="module")
def bombed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How each bomb ended. Takes seconds: they go off, or do not, in a process of their own, whose memory is looked at."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in bombs.BOMBS.items():
        (folder / name).write_bytes(make())
    command = [sys.executable, "-m", "tests.trust.bombs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_a_bomb_is_refused_before_it_goes_off(bombed: dict[str, Any], name: str) -> None:
    assert bombed[name]["megabytes"] < 200
    error = "DocumentError" if name.endswith(".json") else "CannotReadError"
    assert bombed[name]["end"].startswith("loaded" if name == "long_shape.json" else error)


def test_an_array_without_elements_is_drawn_whatever_its_shape(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(bombs.document(bombs.value(shape=[10**8, 0])))
    recordings.tried(av.load(path), tmp_path, pictures=True, films=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((("nodes", 0, "outputs"), 10**9), "node n0 has 1000000000 outputs, but its op has fewer"),
        ((("nodes", 0, "next_functions", 0, "index"), 1), "node n0 names output 1 of n1, which has 1"),
        ((("nodes", 0, "next_functions", 0, "node"), "n0"), "the backward graph has a cycle"),
        ((("nodes", 1, "variable"), "t1"), "node n1 accumulates into t1, which has another node or is not a leaf"),
        ((("nodes", 1, "op"), "o0"), "node n1 names op o0, which has another node"),
        ((("ops", 0, "node"), "n1"), "op o0 names node n1, which belongs to another op"),
        ((("ops", 0, "outputs"), ["t1", "t1"]), "tensor t1 is an output of two ops"),
        ((("ops", 0, "inputs", 0, "tensor"), "t1"), "op o0 uses tensor t1 before it is computed"),
        ((("tensors", 1, "output_nr"), 1), "tensor t1 names output 1 of n0, which has 1"),
        ((("tensors", 0, "grad_fn"), "n0"), "tensor t1 and t0 are the same output of n0"),
        ((("tensors", 0, "id"), "ctx:o0"), r"document.tensors\[0\].id: expected t and a number, got 'ctx:o0'"),
        ((("ops", 0, "module"), "a." * 100), r"document.ops\[0\]: a module 100 deep and more"),
        ((("ops", 0, "name"), "x" * (limits.LETTERS + 1)), r"document.ops\[0\].name: a text of 10,000,001 characters"),
    ],
)
def test_parts_that_do_not_fit_are_refused_with_the_place(tmp_path: Path, change: Any, reason: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(bombs.document(change))
    with pytest.raises(av.DocumentError, match=reason):
        av.load(path)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"node": "n1", "sentence": "x"}, "step 1 has 0 grad_outputs, but n1 has 1 outputs"),
        ({"node": "n1", "sentence": "x", "grad_outputs": [None], "edited": [1]}, "it edits 1, and has 1 grad_outputs"),
        (
            {"node": "n1", "sentence": "x", "grad_outputs": [None], "changes": ["x"]},
            "step 1 changes 'x', which is not an address",
        ),
        (
            {"node": "n1", "sentence": "x", "grad_outputs": [None], "changes": ["next:n0.1"]},
            "step 1 changes 'next:n0.1', which does not exist",
        ),
        ({"node": "n1", "sentence": "x", "grad_outputs": [None], "changes": ["sum:n9.0"]}, "step 1 names 'n9'"),
    ],
)
def test_a_step_that_does_not_fit_its_node_is_refused(step: dict[str, Any], reason: str) -> None:
    step["changes"] = [{"at": at, "before": None, "after": None} for at in step.get("changes", ())]
    with pytest.raises(av.DocumentError, match=reason):
        recording_from_json(bombs.document(trace={"steps": [step]}).decode())


def test_a_step_without_a_sentence_gets_one() -> None:
    """Also where the absolute value of a number is beyond all floats."""
    huge = {"shape": [3], "dtype": "complex128", "text": "", "numbers": ["(1.7e+308+1.7e+308j)"] * 3}
    steps = [{"node": "n0", "sentence": "", "grad_outputs": [huge], "grad_inputs": [huge]}]
    s = av.step(recordings.loaded(bombs.document(trace={"steps": steps, "complete": True}).decode()))
    s.finish()
    assert "norm inf" in s.sentence


def test_a_node_runs_once_and_where_a_root_leads() -> None:
    step = {"node": "n1", "sentence": "x", "grad_outputs": [None]}
    with pytest.raises(av.DocumentError, match="step 2 calls n1, again"):
        recording_from_json(bombs.document(trace={"steps": [step, step]}).decode())
    with pytest.raises(av.DocumentError, match="step 1 calls n1, which no root reaches"):
        recording_from_json(bombs.document((("roots",), []), trace={"steps": [step]}).decode())


def test_thirty_thousand_nodes_are_read() -> None:
    """Takes a second or two, for 30,000 nodes and as many steps."""
    nodes = tuple(Node(f"n{i}", "AddBackward0", None, 1, (), order=i) for i in range(30_000))
    tensors = tuple(recordings.loaded(bombs.document().decode()).document.tensors[:1])
    document = Document(tensors, (), nodes, roots=("t0",))
    trace = Trace((), True, Engine(tuple(n.id for n in nodes[:100])))
    assert recording_from_json(recording_to_json(document, trace)) == (document, trace)
    assert Step("n0", "x").engine == Engine()


def test_many_columns_of_whole_numbers_are_read() -> None:
    """The densest that `save` writes: as many brackets in few letters as a bomb has, or nearly so."""
    column = av.tensor([[k % 10] for k in range(64)])
    shown = recordings.loaded(recordings.written(column, {})).document
    many = tuple(replace(shown.tensors[0], id=f"t{k}") for k in range(500))
    document = replace(shown, tensors=many, roots=())
    text = recording_to_json(document, Trace())
    assert len(text) > limits.FREE and recording_from_json(text)[0] == document
    assert recording_from_json(json.dumps(json.loads(text), separators=(",", ":")))[0] == document


def test_no_file_that_a_document_names_is_read(tmp_path: Path) -> None:
    """It could be a device, which never ends; code is looked at where Python has run it."""
    file = tmp_path / "anything.txt"
    file.write_text("y = x.detach()\n")
    source = {"file": str(file), "line": 1, "end_line": 1, "column": 0, "end_column": 14}
    text = bombs.document(
        (("ops", 0), {"id": "o0", "name": "Detach", "inputs": [{"tensor": "t0"}], "outputs": ["t1"], "source": source}),
        (("tensors", 1, "grad_fn"), None),
        (("tensors", 1, "requires_grad"), False),
        (("nodes",), []),
    )  # fmt: skip
    s = av.step(Recording(*recording_from_json(text.decode())))
    assert "detach" in s.picture["why"]["t0"]
    assert str(file) not in linecache.cache


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_the_reason_names_what_is_not_a_file(tmp_path: Path, suffix: str) -> None:
    """It is not opened, because a pipe or a device may never end."""
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"device{suffix}").symlink_to("/dev/zero")
    for kind in ("pipe", "folder", "device"):
        with pytest.raises(av.CannotReadError, match=f"cannot read .*{kind}{suffix}.*: it is a {kind}$"):
            av.load(tmp_path / f"{kind}{suffix}")


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(limits.BYTES + 1)
    with pytest.raises(av.CannotReadError, match="it has more than 256,000,000 bytes"):
        av.load(tmp_path / "x.json")


@pytest.mark.parametrize("letter", ["\u0301", "\u3000", " ", "\n", "(", "a "])
def test_a_long_text_of_letters_without_width_is_wrapped_in_no_time(tmp_path: Path, letter: str) -> None:
    """In less than a second, not in minutes."""
    text = bombs.document(
        (("statements",), [{"text": letter * 100_000, "tensor": "t1"}]), (("tensors", 0, "name"), letter * 99_999)
    )
    rec = recordings.loaded(text.decode())
    assert av.show(rec)._repr_mimebundle_()
    assert av.step(rec).still(letter * 99_999)


def test_what_resvg_panics_on_is_an_error_of_ours() -> None:
    from autograd_viz.pictures.files.image import png_bytes

    with pytest.raises(av.AutogradVizError, match="the picture cannot be drawn"):
        png_bytes('<svg viewBox="0 0 9 9"')


# -- archives -------------------------------------------------------------------------------------------------------------


def archives() -> list[bytes]:
    """A state as `save` writes it, and NumPy's own."""
    model = av.nn.Linear(3, 2)
    adam = av.optim.Adam(model.parameters())
    model(av.ones(3)).sum().backward()
    adam.step()
    packed = io.BytesIO()
    np.savez_compressed(packed, a=np.zeros((200, 200)), b=np.arange(3), c=np.eye(3)[::2], d=np.array(2.5))
    return [state_bytes({"m": model.state_dict(), "o": adam.state_dict(), "t": (1, [2.5, None, "x"], {})}), packed.getvalue()]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_damaged_archive_is_refused_or_read() -> None:
    """Takes a second or two: hundreds of archives."""
    whole, ends = archives(), Counter[str]()
    for seed in range(effort.examples(2000)):
        data = damage.changed_archive(whole[seed % 2], random.Random(seed))
        try:
            repr(av.load(io.BytesIO(data)))
            ends["loaded"] += 1
        except av.CannotReadError:
            ends["refused"] += 1
    assert ends["loaded"] and ends["refused"] > ends["loaded"], ends


def test_whole_archives_are_read() -> None:
    state, packed = (av.load(io.BytesIO(data)) for data in archives())
    assert state["t"] == (1, [2.5, None, "x"], {}) and state["m"]["weight"].shape == (2, 3)
    assert [*packed] == ["a", "b", "c", "d"] and packed["d"].item() == 2.5


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MOST_PARTS", 30)
    av.save({"few": [1.0] * 10}, tmp_path / "x.npz")
    assert av.load(tmp_path / "x.npz") == {"few": [1.0] * 10}
    with pytest.raises(ValueError, match="the state is too much for"):
        av.save({"many": [1.0] * 100}, tmp_path / "x.npz")
    assert av.load(tmp_path / "x.npz") == {"few": [1.0] * 10}


def test_packed_arrays_may_unpack_to_sixteen_times_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(100_000))
    assert av.load(tmp_path / "x.npz")["a"].shape == (100_000,)
    monkeypatch.setattr(storage, "SMALL", 1000)
    with pytest.raises(av.CannotReadError, match=r"it would unpack from .* to 800,\d+ bytes"):
        av.load(tmp_path / "x.npz")
