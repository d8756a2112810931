"""Error messages for features of PyTorch that autograd_viz lacks."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .public import LATE, found

# large features, each with an alternative
INSTEAD = {
    "compile": "there is nothing to compile; call the function as it is",
    "jit": "there is nothing to compile; call the function as it is",
    "sparse": "all tensors are dense",
    "quantization": "all tensors are plain NumPy arrays",
    "distributed": "everything runs in one process",
    "onnx": "save the state_dict as .npz",
    "forward_ad": "autograd.functional.jvp computes the same numbers",
    "to_sparse": "all tensors are dense",
}
TENSOR_ATTRIBUTES = """
apply_ as_strided_scatter as_subclass bfloat16 cauchy_ ccol_indices chalf coalesce col_indices const_data_ptr
crow_indices dense_dim dequantize diagonal_scatter dim_order eig geometric_ geqrf grad_dtype hash_tensor i0 i0_ igamma
igamma_ igammac igammac_ index index_reduce index_reduce_ indices int_repr ipu is_coalesced is_conj is_distributed
is_ipu is_maia is_mtia is_neg is_pinned is_set_to is_shared is_vulkan is_xla log_normal_ lstsq lu lu_solve map2_ map_
module_load mtia mvlgamma mvlgamma_ name narrow_copy new_empty_strided nonzero_static orgqr ormqr q_per_channel_axis
q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qscheme record_stream reinforce resize resize_as
resize_as_sparse_ row_indices select_scatter slice_inverse slice_scatter smm solve sparse_dim sparse_mask sparse_resize_
sparse_resize_and_clear_ sspaddmm storage storage_type symeig to_dense to_mkldnn to_padded_tensor to_sparse
to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr unsafe_chunk unsafe_split unsafe_split_with_sizes
values xpu
""".split()  # noqa: SIM905 -- of PyTorch's tensors, that ours lack


@dataclass(frozen=True)
class Advice:
    """A sentence like: autograd_viz has no torch.einsumm; did you mean einsum? `hasattr` does not read it: it is made late."""

    namespace: str
    name: str
    known: Sequence[str]
    before: str = ""

    def __str__(self) -> str:
        text = f"{self.before}autograd_viz has no {self.namespace}.{self.name}"
        if self.name in INSTEAD:
            return f"{text}; {INSTEAD[self.name]}"
        near = difflib.get_close_matches(self.name, [k for k in self.known if not k.startswith("_")], 3)
        return f"{text}; did you mean {' or '.join(near)}?" if near else text

    __repr__ = __str__


def module_getattr(namespace: str, names: dict[str, Any]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with these globals: it loads a name of a rare op, and has advice for a missing one."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}")
        place = namespace.removeprefix("torch.")
        if name in LATE.get(place, ()):
            names[name] = found(place, name)
            return names[name]
        with suppress(ModuleNotFoundError):
            return import_module(f"{names['__name__']}.{name}")
        raise AttributeError(Advice(namespace, name, (*{*names, *names.get("__all__", ()), *LATE.get(place, ())},)))

    return missing


class MissingAttribute:
    """A descriptor on Tensor for a missing attribute of PyTorch. Reading it raises an error that names it.

    A ``__getattr__`` on the class would make every existing attribute ten times slower.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        known = sorted(set(dir(owner)) - set(TENSOR_ATTRIBUTES))
        before = f"'{owner.__name__}' object has no attribute {self.name!r}: "
        raise AttributeError(Advice("torch.Tensor", self.name, known, before))


def tensor_dir(self: Any) -> list[str]:
    """Tensor.__dir__: the attributes that exist, so that a notebook completes only those."""
    return sorted(set(object.__dir__(self)) - set(TENSOR_ATTRIBUTES))
