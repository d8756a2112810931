"""A release of PyTorch whose graphs cannot be followed is refused, in words that say what to do; all else goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

OLD = '__version__ = "2.1.2+cpu"\n\n\nclass Tensor:\n    pass\n'
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import torch
import autograd_viz as av
for verb in (av.show, av.step, av.explain, lambda _: av.record()):
    try:
        verb(torch.Tensor())
    except ImportError as error:
        print(error)
x = av.tensor(2.0, requires_grad=True)
print(av.show(x * x))
"""


def test_an_old_pytorch_is_refused(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(OLD, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True)
    *said, ours = done.stdout.splitlines()
    expected = "autograd_viz needs PyTorch 2.2 or newer; this is 2.1.2+cpu. Update it with: pip install --upgrade torch"
    assert said == [expected] * 4
    assert "Figure" in ours
