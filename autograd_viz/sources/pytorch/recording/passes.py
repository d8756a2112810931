"""The part of the recorder that notes passes: backward() and grad(), how they begin, and how they fail."""

from __future__ import annotations

from typing import Any

import torch

from ..reading.call_place import Call, hide_call, users_line
from ..reading.nodes import grad_fn_of
from ..reading.op_log import Log, PassRecord, op_of
from ..reading.op_pages import KEY
from . import kinds
from .events import tensors_in
from .last_pass import LastPass

DisableTorchFunctionSubclass = torch._C.DisableTorchFunctionSubclass


def run_pass(log: Log, last: LastPass, kind: int, call: Call, func: object, args: Any, kwargs: Any) -> Any:
    """Note a pass, and keep its graph if it is not too large."""
    __tracebackhide__ = True
    record: PassRecord | None = None
    with log, DisableTorchFunctionSubclass():
        root = next(iter(tensors_in((args[0] if args else next(iter(kwargs.values()), None),))), None)
        record = _begins(log, last, kind, root, kwargs)
        args, kwargs = last.begins(root, args, kwargs, record)
    try:
        result = call(func, args, kwargs)
    except BaseException as error:
        hide_call(error)
        with log, DisableTorchFunctionSubclass():
            if record is not None:
                record.error = str(error) or type(error).__name__
                last.failed(error)
        raise
    with log, DisableTorchFunctionSubclass():
        last.ended()
    if kind == kinds.GRAD and record is not None and (root_op := record.number_of_root) is not None and record.line:
        with log, DisableTorchFunctionSubclass():
            cut = "constant" if (args[4] if len(args) > 4 else kwargs.get("create_graph")) else "op"
            for out in tensors_in(result):
                if grad_fn_of(out) is None:  # grad() has returned it without a graph
                    log.cut(out, func, record.line, [root_op], cut)
    return result


def _begins(log: Log, last: LastPass, kind: int, root: Any, kwargs: Any) -> PassRecord:
    log.now += 1
    keeps = bool(kwargs.get("retain_graph") or kwargs.get("create_graph"))
    node = None if root is None else grad_fn_of(root)
    number = None if node is None else node.metadata.get(KEY)
    op = op_of(root, log) if node is None and root is not None else number
    name = "backward" if kind == kinds.BACKWARD else "grad"
    record = PassRecord(name, users_line(), log.now, op, keeps, bool(kwargs.get("inputs")))
    record.has_graph = node is not None
    if number is None:
        last.met_unknown = True
    elif number < log.began:
        last.met_old = True
    log.passed(record)
    return record
