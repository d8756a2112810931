"""The languages: the same sentences and labels with the same placeholders in each."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import autograd_viz as av
from autograd_viz import words
from autograd_viz.words import en, zh

from .house import tree_of


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    av.set_language("en")


def said(language: ModuleType) -> dict[str, str]:
    constants = {name: value for name, value in vars(language).items() if name.isupper()}
    labels = {key: text for name, part in constants.items() if name.startswith("UI") for key, text in part.items()}
    return {name: value for name, value in constants.items() if not name.startswith("UI")} | labels


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_language_says_everything_with_the_same_placeholders() -> None:
    assert {k: placeholders(text) for k, text in said(en).items()} == {k: placeholders(text) for k, text in said(zh).items()}


def test_the_language_can_be_chosen() -> None:
    assert (words.language(), words.COMPLETE, words.ui()["next"]) == ("en", "The backward pass is complete.", "Next")
    av.set_language("zh")
    assert (words.language(), words.COMPLETE, words.ui()["next"]) == ("zh", "反向传播完成。", "下一步")


def test_a_picture_speaks_the_language() -> None:
    a = av.tensor([1.0, 2.0], requires_grad=True)
    b = (a * 2).exp()
    b.sum().backward()
    av.set_language("zh")
    picture = av.show(b, collapse=True).svg + av.show(b, collapse=False).svg
    assert "叶子，需要梯度" in picture and "已释放" in picture and "个反向节点" in picture
    assert not re.search(r"\bfreed\b|backward node|requires grad", re.sub(r"<style.*?</style>", "", picture))


def test_an_unknown_language_is_refused_with_the_choices() -> None:
    with pytest.raises(av.UnknownChoiceError, match="unknown language 'fr'; choose one of: en, zh"):
        av.set_language("fr")
    with pytest.raises(AttributeError, match="there is no sentence NO_SUCH"):
        words.NO_SUCH


def test_a_sentence_has_at_most_twenty_words() -> None:
    sentences = [(name, part) for name, text in said(en).items() for part in re.split(r"(?<=[.?!]) +", text)]
    assert {name: part for name, part in sentences if len(part.split()) > 20} == {}


def used() -> Iterator[str]:
    for path in Path(av.__file__).parent.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "words":
                yield node.attr


def test_every_sentence_that_the_code_names_exists() -> None:
    assert {name for name in used() if name.isupper()} <= vars(en).keys()


TOGETHER = re.compile(
    r"(CAUSE|DO|MORE|WHY|ASK|RUN|EXPLAIN)_.*|UI|UI_EXPLORE|UI_SITE"
)  # names that are put together where they are read


def test_every_sentence_is_read_somewhere() -> None:
    assert {name for name in vars(en) if name.isupper() and not TOGETHER.fullmatch(name)} <= {*used()}


def test_the_sentences_of_a_cause_stand_in_the_file_of_its_name() -> None:
    """Those of a check in the file of its area."""
    package = Path(av.__file__).parent
    homes = {p.stem for room in ("causes/*.py", "checks/*") for p in (package / "answers").glob(room)}
    files = [p.stem for p in (package / "words" / "en").glob("*.py") if "\nCAUSE_" in p.read_text(encoding="utf-8")]
    assert [name for name in files if name not in homes] == []


MADE_UP = re.compile(  # keys that are put together where they are read
    r"(reset|back|next|finish|play|pause|run|fit|search|help|stops|step_over|step_into|step_out|map)_tip"
    r"|card_(parameter|values|gradient)|hook_\w+|stop(ped)?_(breakpoint|node|nan|zero|sign|above|below|grad|arrival|condition)"
    r"|edit_(how|example)_(value|scale|zero|clip|element|noise)"
    r"|rule_(user|torch)|kept|freed|stale|plain|none"
)


def test_every_label_is_read_somewhere() -> None:
    package = Path(words.__file__).parent.parent
    files = [p for room in ("widget", "stepper") for p in (package / room).rglob("*") if p.suffix in (".js", ".py")]
    source = "\n".join(p.read_text(encoding="utf-8") for p in files)
    assert [k for k in words.ui() if not MADE_UP.fullmatch(k) and not re.search(f"[\"'`]{k}[\"'`]", source)] == []
