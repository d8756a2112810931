"""Draw the pictures of the README into a folder (default: notebooks/pictures).

python .ci/pictures.py [FOLDER]
"""

import sys
from pathlib import Path

import autograd_viz as av


def draw(folder: Path) -> None:
    """One program: in the middle of its backward pass, and after it."""
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    c = a * b
    d = av.tensor(4.0, requires_grad=True)
    e = c * d
    stepper = av.step(e)
    stepper.goto(3)
    av.save(stepper, folder / "stepping.svg", theme="dark")
    stepper.reset()
    e.backward()
    av.save(e, folder / "figure.svg")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "notebooks" / "pictures")
