"""How large the contents of a file may be. `save` writes 75 MB for 30,000 nodes.

======================  ==========================================================================================
a file                  `BYTES`; after the first `FREE`, one object in `PER_OBJECT` bytes and one list in
                        `PER_LIST`: a short text must not fill the memory
a text                  `LETTERS`
all sentences           `SAID` letters: a name counts each time an op or a node names it
a list                  `ITEMS`
a shape                 `DIMENSIONS`, each length and their product at most `SIZE`
a module's path         `DEPTH` parts, as many dots in a tensor's name
a whole number          `SIZE` where it counts something, else 64 bits
======================  ==========================================================================================
"""

from __future__ import annotations

from typing import NamedTuple

BYTES = 256_000_000
FREE = 100_000
PER_OBJECT, PER_LIST = 16, 6  # `[0], [1], `, a column of whole numbers, takes 9
LETTERS = 10_000_000
SAID = 50_000_000
ITEMS = 1_000_000
DIMENSIONS = 64
DEPTH = 100
SIZE = 2**63 - 1


class Between(NamedTuple):
    """The least and the greatest whole number that a field holds."""

    least: int
    most: int


class AtMost(NamedTuple):
    """How many items a list holds."""

    items: int


class Named(NamedTuple):
    """The letter that begins the ids of a kind; a number follows."""

    letter: str

    @property
    def pattern(self) -> str:
        """As a regular expression."""
        return rf"^{self.letter}(0|[1-9][0-9]{{0,8}})$"


ANY_INT = Between(-(2**63), 2**64 - 1)  # the range of PyTorch's and NumPy's types
ANY_LIST = AtMost(ITEMS)
