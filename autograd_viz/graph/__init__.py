"""The document: what a picture shows, as plain frozen values. Standard library only; knows nothing of tensors' makers."""

from .codec import SCHEMA_VERSION, document_from_json, document_to_json, trace_from_json, trace_to_json
from .model import Document, Formula, NextFunction, Node, Op, Operand, Saved, Source, Statement, Tensor, Value
from .trace import Accumulation, Change, State, Step, Trace, state_at

__all__ = [
    "SCHEMA_VERSION", "Accumulation", "Change", "Document", "Formula", "NextFunction", "Node", "Op", "Operand", "Saved",
    "Source", "State", "Statement", "Step", "Tensor", "Trace", "Value", "document_from_json", "document_to_json", "state_at",
    "trace_from_json", "trace_to_json",
]  # fmt: skip
