from __future__ import annotations

from . import Cases, shape, slicing, strided

VIEWS = (
    "alias t transpose_dims unsqueeze select slice_dim diagonal unfold_windows view_sizes expand_sizes permute_dims "
    "squeeze_all squeeze_dim squeeze_dims unbind_dim split_equally split_with_lengths as_strided"
)
OF_VIEWS = {**shape.CASES, **slicing.CASES, **strided.CASES}

CASES: Cases = {f"{name}_copy": OF_VIEWS[name] for name in VIEWS.split()}
