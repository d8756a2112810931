"""Our functions that run beside the user's are left out by `torch.compile`, and what they call is compiled as ever."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from torch._C._dynamo import eval_frame

ROOM = __package__.partition(".pytorch")[0]
_left_out = set[str]()


def leave_out() -> None:
    """Compile no function of the rooms that watch and record. Releases of PyTorch before 2.9 have no call for that."""
    if not hasattr(eval_frame, "set_code_exec_strategy"):
        return
    action = eval_frame._FrameAction
    only_this = eval_frame._FrameExecStrategy(action.SKIP, action.DEFAULT)
    new = {name for name in [*sys.modules] if name.startswith(ROOM) and name != f"{__package__}.record"} - _left_out
    _left_out.update(new)
    for code in (code for name in new for code in _codes(sys.modules[name])):
        eval_frame.set_code_exec_strategy(code, only_this)


def _codes(module: Any) -> Iterator[CodeType]:
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]
    stack: list[Any] = [*own, *(part for kind in own if isinstance(kind, type) for part in vars(kind).values())]
    while stack:
        thing = stack.pop()
        thing = getattr(thing, "fget", None) or getattr(thing, "__func__", None) or getattr(thing, "__wrapped__", thing)
        code = thing.__code__ if isinstance(thing, FunctionType) else thing
        if isinstance(code, CodeType):
            yield code
            stack += [c for c in code.co_consts if isinstance(c, CodeType)]
