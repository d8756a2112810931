"""Records a PyTorch forward pass while it runs: which op made which tensor, from which inputs, at which line and module.

# Note [Where ops are seen]
A dispatch mode sees every op that autograd records, one for one: `F.linear` is `t` and `addmm` there, as in the backward
graph. (A function mode sees what the user wrote, and makes `nn.MultiheadAttention` take another path through its code.)
The mode sees an op before autograd has given the result its grad_fn. When the next op comes, the result has it.
Under any dispatch mode PyTorch's `reshape` calls `view`. So the node is a ViewBackward0 in place of a ReshapeAliasBackward0,
with the same numbers. The stack tells what an op is inside of: calls.py.
"""

from __future__ import annotations

import functools
import importlib
import logging
import sys
import weakref
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C._dynamo import eval_frame
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_leaves

from ....runtime.uncopied import Uncopied
from ..reading.calls import NOWHERE, Parts, Running, calls_around, function_and_arguments, is_given, note_argument
from ..reading.handles import KEY, Event, Handle, alive, begin_anew, is_parameter, keep_behind, see, seen
from ..reading.nodes import grad_fn_of
from .place import Aside

FACTORIES = {"lift_fresh", "lift"}  # how `torch.tensor` returns its result
OPERANDS = {"self", "other", "exponent"}  # arguments for which a Python number is an operand
NUMBERS = (int, float, complex)
SEVERAL = (list, tuple)  # of operands
graph_task, is_grad_enabled = torch._C._current_graph_task_id, torch.is_grad_enabled
logger = logging.getLogger("autograd_viz")


class Signature(NamedTuple):
    """What all calls of an op have in common."""

    name: str  # "mul" for `aten::mul.Tensor`.
    # those that can be operands: position and name; None for a higher-order op (`torch.cond`), without a schema.
    arguments: tuple[tuple[int, str], ...] | None
    is_mutable: bool  # it changes an argument in place

    def operands(self, args: Any, kwargs: Any) -> Iterator[Any]:
        """The tensors of a call, and the text of each number that it computes with."""
        if self.arguments is None:
            yield from (t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor))
            return
        given = len(args)
        for place, name in self.arguments:
            value = args[place] if place < given else kwargs.get(name)
            if type(value) is Tensor:
                yield value
            elif isinstance(value, Tensor):
                if not is_lazy(value):  # nothing is known of a lazy one yet
                    yield value
            elif isinstance(value, SEVERAL):
                if name != "indices":
                    yield from (v for v in value if isinstance(v, torch.Tensor))
            elif name in OPERANDS and isinstance(value, NUMBERS):
                yield str(value)


@functools.cache
def signature_of(func: Any) -> Signature:
    """The signature of an op. It is cached: PyTorch makes the schema anew each time."""
    if not hasattr(func, "_schema"):
        return Signature(func.name(), None, False)
    schema = func._schema
    arguments = [(i, a.name) for i, a in enumerate(schema.arguments) if a.name in OPERANDS or "Tensor" in str(a.type)]
    return Signature(schema.name.rpartition("::")[2], tuple(arguments), schema.is_mutable)


class Recorder(Uncopied, TorchDispatchMode):
    """A recording of a forward pass: ``with record(model): ...``, or ``record(model)(x)``.

    Args:
        what: a module, whose parts are known by their path; a function; or None.

    Attributes:
        error: the error of the user's code, if it raised; the ops before it are kept.
        problems: errors in the recording itself; the first is logged.
    """

    kind = "recorder"

    def __init__(self, what: Any = None) -> None:
        if self._should_skip_dynamo():
            importlib.import_module("torch._dynamo")  # 0.8 s: else PyTorch loads it at the first op, and Ctrl-C there breaks it

        super().__init__()
        self.what = what
        self.error: BaseException | None = None
        self.problems: list[Exception] = []
        self._parts = Parts(what)
        self._running = Running(self._parts.called)
        self._pending: list[tuple[weakref.ref[Any], Event]] = []
        self._function: tuple[FrameType, Event] | None = None  # a user's Function that is running
        self.has_passed = False  # a backward pass was seen, and its graph may still be kept
        self._copied: Event | None = None  # the previous op, if it was a copy
        self._asides: list[Aside] = []  # one for each entry of the context

    def __repr__(self) -> str:
        return "<Record>" if self.what is None else f"<Record of {getattr(self.what, '__name__', type(self.what).__name__)}>"

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Record one call of the module or function; returns what it returns.

        Raises:
            TypeError: there is nothing to call.
        """
        if self.what is None:
            raise TypeError("record() has no module or function to call; use it as `with record():`")
        with self:
            return self.what(*args, **options)

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Compiled code runs as it does without a recording."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Should PyTorch wrap every call, so that Dynamo compiles none of our code? Newer releases take one call, below."""
        return not hasattr(eval_frame, "set_code_exec_strategy")

    supports_higher_order_operators = True  # torch.cond and the like, each as one op

    if not hasattr(TorchDispatchMode, "ignore_compile_internals"):  # for PyTorch up to 2.8
        is_infra_mode = ignore_compile_internals

    def __enter__(self) -> Recorder:
        self.error = None
        if not any(isinstance(mode, Recorder) for mode in _get_current_dispatch_mode_stack()):
            begin_anew()  # a training loop would keep the graphs of several batches
        if not self._asides:
            self._running = Running(self._parts.called, self._parts.are_known, sys._getframe(1))
        self._parts.begin()
        super().__enter__()
        self._asides.append(Aside(self))
        self._asides[-1].begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._asides.pop().end()
        super().__exit__(kind, error, trace)
        self.error, self._function, self._copied = error, None, None
        if not self._asides:
            self._running = Running(self._parts.called)  # the other keeps frames
        self._settle()

    def __torch_dispatch__(self, func: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        """An op runs. If our part of it fails, the user's program goes on."""
        kwargs = kwargs or {}
        if graph_task() != -1:
            self.has_passed = True
            if not is_grad_enabled():
                return func(*args, **kwargs)  # a rule of a backward pass without create_graph
        try:
            op = signature_of(func)
            if self._pending:
                self._settle()
            event: Event | None = self._begun(op, args, kwargs)
        except Exception as error:
            self._failed(error)
            event = None
        result = func(*args, **kwargs)
        if event is not None:
            try:
                self._ended(event, op, args, kwargs, result)
            except Exception as error:
                self._failed(error)
        return result

    def _failed(self, error: Exception) -> None:
        """Our part of an op failed: report it, and leave the op out."""
        self._pending.clear()
        if not self.problems:
            logger.warning("an op could not be recorded, and is drawn as far as the graph tells", exc_info=error)
        self.problems.append(error)

    def _begun(self, op: Signature, args: Any, kwargs: object) -> Event:
        users, function, around = calls_around(sys._getframe(2), self._running)
        if function is None:
            self._function = None
            is_recorded = is_grad_enabled() and op.name not in FACTORIES  # as in the core, no_grad leaves no record
            inside = self._parts.inside(around) if around else NOWHERE
            inputs, nodes = self._inputs(op, args, kwargs) if is_recorded else ((), ())
            is_part = self._running.is_in_module
            if not is_recorded and op.name not in FACTORIES and (is_part or (args and _is_frozen(args[0]))):
                inputs = self._frozen(op, args, kwargs)
            event = Event(op.name, inputs, users, inside, is_recorded, is_part=is_part)
            if self._copied is not None:
                copied, self._copied = self._copied, None
                source = copied.inputs[0] if copied.inputs else None
                if copied.place == event.place and isinstance(source, Handle) and args and source.ref() is args[0]:
                    # an in-place change of what autograd has just copied for it: its node is older than the copy's
                    event.sequence = copied.sequence - 1
            event.behind = nodes  # until it is known whether it has a node of its own
            return event
        if self._function is None or self._function[0] is not function:  # ops inside a user's Function belong to the Function
            name, arguments = function_and_arguments(function)
            given = tuple(self._given(a) for a in arguments if isinstance(a, torch.Tensor))
            inside = self._parts.inside(around, arguments) if around else NOWHERE
            self._function = (function, Event(name, given, users, inside, is_tracked=True, is_function=True))
        return self._function[1]

    def _frozen(self, op: Signature, args: object, kwargs: object) -> tuple[Handle | str, ...]:
        """The inputs of an op under `no_grad` in a module, or of what such an op has made. Results keep no elements here."""
        inputs, _ = self._inputs(op, args, kwargs)
        for handle in inputs:
            if isinstance(handle, Handle) and handle.maker is not None and not handle.maker.is_tracked:
                handle.lighten()
                handle.is_leaf = handle.requires_grad = False  # PyTorch says True of a view of a leaf
        return inputs

    def _inputs(self, op: Signature, args: object, kwargs: object) -> tuple[tuple[Handle | str, ...], tuple[Any, ...]]:
        inputs: list[Handle | str] = []
        nodes = []
        for given in op.operands(args, kwargs):
            if isinstance(given, str):
                inputs.append(given)
            else:
                node = grad_fn_of(given) if given._is_view() else given.grad_fn
                inputs.append(self._known(given, node))
                if node is not None:
                    nodes.append(node)
        return tuple(inputs), tuple(nodes)

    def _given(self, tensor: torch.Tensor) -> Handle:
        """An input of a Function. A view that nobody has asked is known as it was."""
        node = grad_fn_of(tensor)
        return self._known(tensor, node) if node is not None or tensor._base is None else seen(tensor) or see(tensor, None)

    def _known(self, tensor: torch.Tensor, node: object) -> Handle:
        """The tensor as it is now: an output of a node."""
        handle = seen(tensor)
        if handle is None or not handle.is_output(tensor, node):
            handle = see(tensor, None)
            handle.look(tensor, node)
        if node is None and handle.argument is None and not (handle.is_leaf and is_parameter(tensor)) and is_given(handle):
            note_argument(handle, tensor, sys._getframe(1))
        return handle

    def _ended(self, event: Event, op: Signature, args: Any, kwargs: Any, result: object) -> None:
        results = [result] if isinstance(result, Tensor) else [r for r in tree_leaves(result) if isinstance(r, Tensor)]
        if event.name == "detach" and self._is_internal(event, results[0]):
            return
        if not event.is_tracked:  # a parameter that an optimizer changes: nothing will ask for it
            results = [r for r in results if not is_parameter(r)]
        if not event.is_function:
            if results:
                event.made([see(r, event) for r in results])
            self._copied = event if event.name == "clone" else None
        if op.is_mutable:
            results = [r for r in results if r._base is None]
            given = (a for a in (*args, *kwargs.values()) if isinstance(a, Tensor))
            results += [a._base for a in given if a._base is not None]
        for r in results:
            self._pending.append((weakref.ref(r), event))

    def _is_internal(self, event: Event, result: torch.Tensor) -> bool:
        """Is it an op of PyTorch's own, not the user's? Factories (`torch.rand`) detach their result. Autograd detaches
        a result that it saves. Some releases detach a detached tensor again.
        """
        maker = event.inputs[0].maker if event.inputs else None
        if maker is None and event.behind:  # the result of a Function has no maker, but its node has
            maker = event.behind[0].metadata.get(KEY)
        if maker is None or maker.place != event.place:
            return False
        if maker.name == "detach":
            self._pending.append((weakref.ref(result), maker))
        if maker.name == "detach" or not any(isinstance(i, Handle) for i in maker.inputs):
            maker.made([see(result, maker)])
        return True

    def _settle(self) -> None:
        """The ops since the last call have their nodes now: store the record of each on its node."""
        pending, self._pending = self._pending, []
        for reference, event in pending:
            tensor = alive(reference)
            if tensor is None:
                continue
            handle, node = seen(tensor), grad_fn_of(tensor) if tensor._is_view() else tensor.grad_fn
            if handle is not None and handle.maker is event:
                handle.look(tensor, node)
            if node is not None and event.is_tracked and node._sequence_nr() >= event.sequence:
                if node.metadata.setdefault(KEY, event) is event and handle is not None:
                    event.has_node(handle)
                event.behind = ()
            elif node is None and self._function is not None and self._function[1] is event:
                self._pending.append((reference, event))  # a Function's results get their node at its end
            elif node is None and event.is_tracked:
                keep_behind(event, self.has_passed)
                self.has_passed = self.has_passed and not event.behind


def _is_frozen(operand: object) -> bool:
    """Did an op under `no_grad` make it, whose inputs are known?"""
    handle = seen(operand) if type(operand) is Tensor else None
    return handle is not None and handle.maker is not None and not handle.maker.is_tracked and bool(handle.maker.inputs)


if not Recorder._should_skip_dynamo():
    _skip = eval_frame._FrameAction.SKIP  # this function, and what it calls
    eval_frame.set_code_exec_strategy(Recorder.__torch_dispatch__.__code__, eval_frame._FrameExecStrategy(_skip, _skip))
