"""How large the contents of a file may be. `save` writes 75 MB for 30,000 nodes."""

from __future__ import annotations

from typing import NamedTuple

BYTES = 256_000_000  # of a file
FREE = 100_000  # bytes; after these a short text must not fill the memory:
PER_OBJECT, PER_LIST = 16, 6  # bytes for each object, and each list; `[0], [1], `, a column of whole numbers, takes 9
LETTERS = 10_000_000  # of a text
SAID = 50_000_000  # letters of all sentences: a name counts each time an op or a node names it
ITEMS = 1_000_000  # of a list that has no limit of its own
DIMENSIONS = 64  # of a shape
DEPTH = 100  # parts of a module's path, dots in a tensor's name
SIZE = 2**63 - 1  # a number that counts something, the product of a shape; other whole numbers have 64 bits


class Between(NamedTuple):
    """The least and the greatest whole number that a field holds."""

    least: int
    most: int


class Named(NamedTuple):
    """The letter that begins the ids of a kind; a number follows."""

    letter: str

    @property
    def pattern(self) -> str:
        """As a regular expression."""
        return rf"^{self.letter}(0|[1-9][0-9]{{0,8}})$"


ANY_INT = Between(-(2**63), 2**64 - 1)  # the range of PyTorch's and NumPy's types
