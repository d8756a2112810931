from __future__ import annotations

from . import Cases, shape

VIEWS = ("squeeze_all", "squeeze_dim", "squeeze_dims", "unsqueeze", "transpose_dims", "t")

CASES: Cases = {f"{name}_in_place": shape.CASES[name] for name in VIEWS}
