"""What ops are called in code: by functions, methods, modules and signs."""

from __future__ import annotations

import ast
import re

ALSO = {  # what else an op is called by than its own name: functions and modules
    "LogSoftmax": {"cross_entropy", "crossentropyloss"}, "NllLoss": {"cross_entropy", "crossentropyloss"},
    "ClampMin": {"clamp"}, "ClampMax": {"clamp"}, "Clamp": {"clip", "hardtanh"}, "LinalgVectorNorm": {"norm", "vector_norm"},
    "NativeDropout": {"dropout"}, "Mm": {"matmul"}, "Pow": {"square"}, "Div": {"true_divide"}, "Addmm": {"linear"},
    "T": {"linear"}, "BinaryCrossEntropy": {"bceloss"}, "BinaryCrossEntropyWithLogits": {"bcewithlogitsloss"},
}  # fmt: skip
SIGNS: dict[str, type[ast.operator]] = {  # operators
    "Add": ast.Add, "Sub": ast.Sub, "Rsub": ast.Sub, "Mul": ast.Mult, "Div": ast.Div, "Reciprocal": ast.Div, "Pow": ast.Pow,
    "Mm": ast.MatMult, "Bmm": ast.MatMult, "Mv": ast.MatMult, "Dot": ast.MatMult,
}  # fmt: skip


def names_of(op: str) -> set[str]:
    """log_softmax and cross_entropy for LogSoftmax."""
    return {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", op).lower(), op.lower(), *ALSO.get(op, ())}


def is_op(value: ast.AST, op: str) -> bool:
    """The expression calls the op, or writes its sign."""
    match value:
        case ast.BinOp(op=sign) | ast.AugAssign(op=sign):
            return isinstance(sign, SIGNS.get(op, ast.BitXor))
        case ast.UnaryOp(op=ast.USub()):
            return op == "Neg"
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(id=name)):
            return name.rstrip("_") in names_of(op)
        case ast.Attribute(attr="T"):
            return op in ("T", "Permute", "NumpyT")
        case ast.Subscript():
            return op in ("Select", "Slice", "Index")
    return False
