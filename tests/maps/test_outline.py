"""A map as JSON and as a Mermaid flowchart."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import autograd_viz as av

from .models import Net, loss_of


def test_json_tells_every_card_and_the_norms_of_its_parameters(tmp_path: Path) -> None:
    model = Net()
    loss = loss_of(model)
    av.save(av.map(loss), tmp_path / "m.json")
    told = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    loss.backward()
    cards = {card["path"]: card for card in told["cards"] if card["kind"] == "module"}
    assert {"embed", "blocks.0", "blocks.2.second", "head"} <= cards.keys()
    assert [card["count"] for card in told["cards"] if card["kind"] == "stack"] == [3]
    (weight, _) = cards["blocks.2.second"]["parameters"]
    assert weight["grad_norm"] == pytest.approx(model.blocks[2].second.weight.grad.norm().item())
    assert weight["norm"] == pytest.approx(model.blocks[2].second.weight.norm().item())
    ends = {card["id"] for card in told["cards"]}
    assert all(arrow["source"] in ends for arrow in told["arrows"])


def test_a_card_has_the_ops_of_the_cards_in_it(tmp_path: Path) -> None:
    model = Net()
    av.save(av.map(loss_of(model)), tmp_path / "m.json")
    cards = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["cards"]
    inside = {card["id"]: sum(c["ops"] for c in cards if c["above"] == card["id"]) for card in cards}
    assert [card["path"] for card in cards if inside[card["id"]] not in (0, card["ops"])] == []
    ops = {card["path"]: card["ops"] for card in cards if card["kind"] == "module"}
    assert (ops["embed"], ops["head"], ops["blocks.1.first"], ops["blocks.1"]) == (2, 2, 2, 6)


def test_a_norm_that_is_no_number_is_a_word(tmp_path: Path) -> None:
    model = Net(1)
    loss = model(av.tensor([[float("inf"), 1.0]])).square().mean()
    av.save(av.map(loss), tmp_path / "m.json")
    told = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert "nan" in [p["grad_norm"] for card in told["cards"] for p in card["parameters"]]


def test_mermaid_draws_what_is_open(tmp_path: Path) -> None:
    model = Net()
    loss = loss_of(model)
    closed, opened = tmp_path / "closed.mmd", tmp_path / "opened.mmd"
    av.save(av.map(loss, depth=1), closed)
    av.save(av.map(loss, depth=1, open="blocks.1"), opened)
    assert "subgraph" not in closed.read_text(encoding="utf-8")
    text = opened.read_text(encoding="utf-8")
    assert text.count("subgraph") == text.count("    end") == 2
    assert re.search(r'c\d+ -->\|"[\d.]+"\| c\d+', text)
