"""Words under a picture are wrapped by the room they take."""

from __future__ import annotations

import pytest

from autograd_viz.pictures.layout.measure import ADVANCE, columns
from autograd_viz.pictures.render.caption import MARGIN, SIZE, caption_lines

WORDS = {
    "en": "MulBackward0 (c) receives 4.0. It sends 12.0 to AccumulateGrad (a) and 8.0 to AccumulateGrad (b). Freed: self.",
    "zh": "2 / 3  MulBackward0 (数据) 收到 3.0。它传出：6.0 → AccumulateGrad (a)、6.0 → MulBackward0。已释放：other、self。",
    "all wide": "反向传播完成" * 20,
    "one word": "x" * 200,
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("most", [20, 47, 80])
def test_lines_fit_and_hold_everything(words: str, most: int) -> None:
    lines = caption_lines(words, most * SIZE * ADVANCE + 2 * MARGIN + 1)
    assert len(lines) > 1 and all(line and columns(line) <= most for line in lines)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert not any(line[0] in "，。、：；" for line in lines)


def test_no_words_are_no_lines() -> None:
    assert caption_lines("", 300) == caption_lines(" \n", 300) == []


def test_words_stay_whole() -> None:
    width = 20 * SIZE * ADVANCE + 2 * MARGIN + 1
    assert caption_lines("one two three four five six", width) == ["one two three four", "five six"]
