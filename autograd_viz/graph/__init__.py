"""The document: what a picture shows, as plain frozen values. It imports only the standard library and knows no framework."""

from .codec import SCHEMA_VERSION, document_from_json, document_to_json, trace_from_json, trace_to_json
from .history import state_at
from .model import Document, Formula, NextFunction, Node, Op, Operand, Saved, Statement, Summary, Tensor, Value
from .surroundings import Source
from .trace import Accumulation, Change, Engine, HookRun, Jacobian, State, Step, Trace, Waiting

__all__ = [
    "SCHEMA_VERSION", "Accumulation", "Change", "Document", "Engine", "Formula", "HookRun", "Jacobian", "NextFunction", "Node",
    "Op", "Operand", "Saved", "Source", "State", "Statement", "Step", "Summary", "Tensor", "Trace", "Value", "Waiting",
    "document_from_json", "document_to_json", "state_at", "trace_from_json", "trace_to_json",
]  # fmt: skip
