"""Reads that take no number from a tensor: its shape, its type, where it is; what is made like it."""

from __future__ import annotations

import ast

ATTRIBUTES = {  # and methods
    "shape", "dtype", "device", "size", "dim", "ndim", "ndimension", "numel", "nelement", "layout", "stride", "is_leaf",
    "grad_fn", "requires_grad", "is_cuda", "is_floating_point", "is_complex", "element_size", "get_device", "data_ptr",
    "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor",
}  # fmt: skip
FUNCTIONS = {
    "len", "isinstance", "type", "id", "print", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like",
    "randint_like", "is_tensor", "is_floating_point", "is_complex",
}  # fmt: skip


def is_for_look(name: ast.expr) -> bool:
    """`x.detach().shape[0]`, `len(x.tolist())`, `torch.zeros_like(x.data)`, `x.detach() is None`: no number of x goes on."""
    node: ast.AST = name
    while True:
        above = getattr(node, "parent", None)
        match above:
            case ast.Attribute(attr=attr):
                if attr in ATTRIBUTES:
                    return True
            case ast.Call(func=func) if func is node:
                pass
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                return called in FUNCTIONS
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                return True
            case _:
                return False
        node = above
