from __future__ import annotations

from . import Cases

CASES: Cases = {}
WITHOUT = {
    "ctc_loss_forward": "PyTorch's gradient holds only behind a log_softmax: tests/core/test_losses.py sums the paths by hand",
}
