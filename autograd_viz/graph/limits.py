"""How large what comes from a file may be. What `save` writes of 30,000 nodes has 75 MB.

======================  ==========================================================================================
a file                  `BYTES`; after the first `FREE` one object in `PER_OBJECT` bytes and one list in
                        `PER_LIST`, so that no short text becomes a large thing in memory
a text                  `LETTERS`
all that is said        `SAID` letters: names as often as ops and nodes name them
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
PER_OBJECT, PER_LIST = 16, 6  # columns of whole numbers, `[0], [1], `, take 9
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
    """The letter with which the ids of a kind begin; a number follows."""

    letter: str

    @property
    def pattern(self) -> str:
        """As a regular expression."""
        return rf"^{self.letter}(0|[1-9][0-9]{{0,8}})$"


ANY_INT = Between(-(2**63), 2**64 - 1)  # what PyTorch's and NumPy's types hold
ANY_LIST = AtMost(ITEMS)
