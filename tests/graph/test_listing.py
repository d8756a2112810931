"""The user's code around the ops: whole functions if this process has read them, else the lines that the document has."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator

import pytest

from autograd_viz.graph.listing import MOST_LINES, Listing
from autograd_viz.graph.surroundings import Source

CELL = """import math
@once
def f(x):
    # a comment
    return x * 2

class Net:
    def forward(self, x):
        for i in range(3):
            x = x + i
        return [x for x in (x,)]

y = f(1)
"""


@pytest.fixture
def read() -> Iterator[Callable[[str], str]]:
    """Makes code a file that this process has read."""
    known = []

    def add(code: str) -> str:
        file = f"<cell {len(known)}>"
        known.append(file)
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        return file

    yield add
    for file in known:
        del linecache.cache[file]


def source(file: str, line: int, code: str = CELL, function: str = "") -> Source:
    return Source(file, line, line, 0, 1, code.splitlines()[line - 1], function)


def numbers(listing: Listing) -> list[list[int]]:
    return [[number for number, _ in text.lines] for text in listing.texts]


def test_a_place_is_listed_with_the_whole_function_around_it_or_the_whole_cell(read: Callable[[str], str]) -> None:
    file = read(CELL)
    at = [source(file, line) for line in (13, 5, 10)]
    listing = Listing(at)
    assert numbers(listing) == [list(range(1, 14)), [2, 3, 4, 5], [8, 9, 10, 11]]
    assert [(t.owner, t.function) for t in listing.texts] == [("", ""), ("", "f"), ("Net", "forward")]
    assert [listing.text_of[s] for s in at] == [0, 1, 2]
    assert listing.texts[1].lines[1] == (3, "def f(x):")


def test_of_a_script_outside_its_functions_the_rest_is_private() -> None:
    code = "key = 'secret'\n\n\n\n\n\na = 1\n# near\nb = a\n\n\n\n\n\nsend(key)\n"
    file = "/somewhere/script.py"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    try:
        assert numbers(Listing([source(file, line, code) for line in (7, 9)])) == [[7, 8, 9]]
    finally:
        del linecache.cache[file]


def test_a_line_repeats_in_a_loop_and_in_a_function(read: Callable[[str], str]) -> None:
    code = "a = 1\nfor i in x:\n    b = 2\nc = [\n    i for i in x]\n"
    file = read(code)
    (cell,) = Listing([source(file, 1, code)]).texts
    assert [cell.repeats(line) for line in (1, 2, 3, 4, 5)] == [False, True, True, True, True]
    assert Listing([source(read(CELL), 5)]).texts[0].repeats(5)


def test_code_that_is_no_longer_what_ran_is_not_listed_whole(read: Callable[[str], str]) -> None:
    file = read(CELL.replace("x * 2", "x * 3"))
    assert Listing([source(file, 5, function="f")]).texts[0].lines == [(5, "    return x * 2")]


def test_of_a_document_from_elsewhere_only_its_own_lines_are_listed(tmp_path: object) -> None:
    """It could name any file of this machine."""
    here = Source(__file__, 1, 1, 0, 3, '"""The user\'s code', "")
    listing = Listing([here, Source(__file__, 3, 4, 0, 1, "one\ntwo")])
    assert listing.texts[0].lines == [(1, '"""The user\'s code'), (3, "one"), (4, "two")]


def test_a_place_without_text_is_not_listed() -> None:
    assert Listing([Source("gone.py", 3, 3, 0, 1)]).texts == []


def test_a_cell_that_is_no_plain_python_is_one_text(read: Callable[[str], str]) -> None:
    code = "%matplotlib inline\ndef f():\n    return 1\n"
    assert numbers(Listing([source(read(code), 3, code)])) == [[1, 2, 3]]


def test_of_a_very_long_text_the_lines_near_the_places_are_listed(read: Callable[[str], str]) -> None:
    code = "x = 1\n" * 5 * MOST_LINES
    file = read(code)
    (text,) = Listing([source(file, line, code) for line in (1, 1000)]).texts
    assert [number for number, _ in text.lines] == [*range(1, 6), *range(996, 1005)]
