"""A backward pass that runs one node at a time. Steps can be taken back, redone and run again, for any kind of tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, SupportsIndex

from ....graph.model import Value
from ....graph.trace import Engine, Rewritten, Step
from ....runtime.collector import collector_as_before
from ....runtime.interrupts import breakable
from ..questions import moved
from .engine_state import Around, Done, EngineSnapshot, EngineState, whole_engine
from .library import Drift, Graph, Library, Rewrites, Snapshot
from .step import Ran, StepWriter, Unread


class Pass:
    """A backward pass from one root that has not run yet. `task` is the engine: its `input_buffers`, `ready`, `starts`,
    `looked_at` and `callbacks` are as in `core.engine.GraphTask`. With `keep_graph`, saved tensors are not freed.
    """

    frees = True
    shows_jacobians = True  # False if nobody looks at the local Jacobians: one costs a vjp per element of the op's result
    # what each kind of tensor, which `library` knows, answers for itself
    library: Library
    grad_snapshot: Callable[
        ..., Any
    ]  # of a tensor; a `Snapshot` that has its `grad`, `value()`, and `shows()`: the same values?
    saved_snapshot: Callable[[Any], Snapshot]  # a node's saved tensors as they are now
    lost: Callable[[Any], dict[str, str]]  # a node's saved tensors that cannot be used, by name: "stale" (modified), "freed"
    attached: Callable[[Any], Any]  # what the user has attached to a node; `holds()` if the node would still do the same
    arrived: Callable[[Any], Sequence[Snapshot]]  # the gradients that came to a node, if user code may change them in place
    shows: Callable[[Any, Any], bool]  # may user code keep or change gradients of this node, with what is attached to it?
    runs_code: Callable[[Any], bool]  # does a call of the node run user code: hooks, a Function's backward?
    places: Callable[[Iterable[Any]], list[tuple[int, int]]]  # address and bytes of the memory of gradients, which views share
    touched: Callable[[Any], list[Any]]  # the tensors whose grad may change when the node is called
    call_node: Callable[[list[Any], tuple[int, ...]], Ran]  # call the next node; `touched`, and the edited outputs
    gradient: Callable[[Any, Any, int], Any]  # what the user typed, for an output of a node; ValueError: it does not fit
    # steps that run and are taken back inside, with their user code, leave random numbers, leaves and grads as they were
    untouched: Callable[[], AbstractContextManager[None]]

    def __init__(self, graph: Graph, task: Any, keep_graph: bool) -> None:
        self.graph, self.task = graph, task
        self.is_recorded = bool(task.create_graph)
        self.heard: Callable[[Ran], None] | None = None  # called with the raw record of each step
        self._done: list[Done] = []
        self.nodes = frozenset(task.input_buffers)  # that it calls
        self._position = 0  # how many of these are in effect; the others have been taken back
        self._writer = StepWriter(graph.document, keep_graph)
        self._edits: dict[int, dict[int, Any]] = {}  # by step: what had arrived before the user's edit
        self._state = EngineState(task, graph.node_ids, graph.document)
        self._drift = Drift(graph.tensors, self.grad_snapshot)
        self._unread = Unread()
        self._rewrites = Rewrites(graph.document, graph.tensors, self.library)

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""
        node = self.task.peek()
        return None if node is None else self.graph.node_ids[node]

    @property
    def own_ranks(self) -> int:
        """Over how many ranks the gradients should be averaged, and are not; 0 if none."""
        return 0

    @property
    def leaves_no_trace(self) -> bool:
        """Is a pass that was taken back invisible? Then it calls no user code, as far as is known."""
        return False

    @property
    def calls_user_code(self) -> bool:
        """Are there hooks, or a Function's backward?"""
        return any(map(self.runs_code, self.nodes))

    def edges_of(self, node: Any) -> Sequence[tuple[Any, int]]:
        """Where the gradients of a node go: a node or None, and which of its outputs."""
        return node.next_functions  # type: ignore[no-any-return]

    def saved_after(self, before: Snapshot, node: Any, is_seen: bool) -> Snapshot:
        """The saved tensors after the call of the node. `is_seen`: the user's code may have taken part in the call."""
        return self.saved_snapshot(node)

    @property
    def total(self) -> int:
        """The number of steps of the whole pass: every node runs once."""
        return len(self.task.input_buffers)

    def engine(self) -> Engine:
        """The engine after the last step that has run."""
        return self._state.moment()()

    def advance(self) -> Step | None:
        """Run one node for real; None at the end. If the node raises, everything is as before the call. It restores the grad
        mode, as Ctrl-C on the last line of a `with` would leave that of the inside.
        """
        mode = self.library.is_grad_enabled()
        try:
            return self._advanced()
        finally:
            if self.library.is_grad_enabled() != mode:
                self.library.set_grad_enabled(mode)

    def _advanced(self) -> Step | None:
        node = self.task.peek()
        if node is None:
            return None
        around = self._around(node)
        if around.is_seen:
            self._unread.show(self.places(self.task.input_buffers[node][1:]))
        try:
            with breakable(), collector_as_before() if around.is_seen else nullcontext():
                ran = self.call_node(around.touched, tuple(self._edits.get(len(self._done), ())))
        except BaseException:
            around.restore()
            raise
        step = self._written(ran, around)
        try:
            self._keep(step, ran, around.is_seen)
        except BaseException:  # no memory for what must be read at once: the step is not taken
            self.undo(len(self._done) - 1)
            self.rewind(len(self._done) - 1)
            raise
        return step

    def _around(self, node: Any) -> Around:
        touched = self.touched(node)
        attached, saved = self.attached(node), self.saved_snapshot(node)
        is_seen = self.shows(node, attached)
        engine = EngineSnapshot(self.task, node, self.edges_of(node), self.arrived(node) if is_seen else ())
        grads = [self.grad_snapshot(t, is_about_to_change=True) for t in touched]
        return Around(node, touched, attached, engine, saved, grads, is_seen)

    def _written(self, ran: Ran, around: Around) -> Step:
        node, touched = around.node, around.touched
        if self.heard is not None:
            self.heard(ran)
        if edits := self._edits.get(len(self._done)):
            ran.unedited = dict(zip(edits, self.library.values(edits.values()), strict=True))
        self._state.look((node, *[after for after, _ in self.edges_of(node)]))
        added_to = [snapshot.grad is not None for snapshot in around.grads]  # accumulated in place, which Back undoes
        grads = [self.grad_snapshot(t, is_about_to_change=a) for t, a in zip(touched, added_to, strict=True)]
        ids = map(self.graph.tensor_id, touched)
        ran.touched = {id: (b, a) for id, b, a in zip(ids, around.grads, grads, strict=True) if id is not None}
        freed = () if self._writer.keep_graph else tuple(ran.saved)
        bytes_freed = self._state.memory.let_go(ran.node, freed)
        step = self._writer.written(ran, bytes_freed, self._state.moment())
        saved = self.saved_after(around.saved, node, around.is_seen)
        self._done.append(Done(around, [saved, *grads], grads, freed, step))
        self._drift.done(grads)
        self._moved(len(self._done))
        return step

    def _keep(self, step: Step, ran: Ran, is_seen: bool) -> None:
        """Keep what the step will be written from, or write the step now."""
        if ran.touched:  # a grad belongs to the user
            self._unread.show(self.places([after.grad for _, after in ran.touched.values()]))
        places = self.places([*ran.arrived, *ran.left])
        if is_seen:
            self._unread.show(places)
        self._unread.add(step, places)

    def _moved(self, position: int) -> None:
        self._position = position
        moved(self)

    def seen(self) -> dict[Any, Step]:
        """The nodes of steps in effect, each with its step."""
        return {done.before.node: done.step for done in self._done[: self._position]}

    def undo(self, index: int) -> None:
        """Take back what a step did to `grad` and to saved tensors; what the user has changed since stays (see `drift`)."""
        done = self._done[index]
        for snapshot, left in zip(done.before.tensors, done.after, strict=True):
            if left.holds():
                snapshot.restore()
        self._drift.undone(done.grads)
        self._moved(index)

    def redo(self, index: int) -> bool:
        """Do again what a step did, without calling anything. False, and nothing is done, if a grad, a saved tensor or a hook
        from before the step has changed since.
        """
        done = self._done[index]
        if not (done.before.attached.holds() and all(snapshot.holds() for snapshot in done.before.tensors)):
            return False
        for snapshot in done.after:
            snapshot.restore()
        self._drift.done(done.grads)
        self._moved(index + 1)
        return True

    def rewind(self, index: int) -> None:
        """Put the engine back to before step `index`. An edit of the gradient that enters it is kept; later ones are lost."""
        if len(self._done) > index:
            self.undo_edit()
        while len(self._done) > index:
            done = self._done.pop()
            node = done.before.node
            done.before.engine.restore()
            self._state.look((node, *(after for after, _ in self.edges_of(node))))
            id = self.graph.node_ids[node]
            self._state.memory.take(id, done.freed)
            self._writer.take_back(id)
            if len(self._done) > index:
                self.undo_edit()

    @contextmanager
    def aside(self, step: int) -> Iterator[None]:
        """Inside, the pass stands before a step that is taken back; it may be edited and run on. Then all is as before."""
        kept, edits = self._done[step:], {k: dict(edited) for k, edited in self._edits.items()}
        restore_engine, writer = whole_engine(self.task), self._writer
        self._writer = writer.copied()
        with self.untouched():
            self.rewind(step)
            try:
                yield
            finally:
                for index in reversed(range(step, len(self._done))):
                    self.undo(index)
                self.rewind(step)
                restore_engine()
                self._done += kept
                self._edits = edits
                self._writer = writer
                for done in kept:
                    self._state.memory.let_go(self.graph.node_ids[done.before.node], done.freed)
                self._state.look(self.task.input_buffers)

    def id_of(self, thing: Any) -> str | None:
        """The id of a tensor or node of the graph, else None."""
        if self.library.is_tensor(thing):
            return self.graph.tensor_id(thing)
        try:
            return self.graph.node_ids.get(thing)
        except TypeError:  # not hashable, so no node
            return None

    def grads(self) -> dict[str, Value | None]:
        """The grads of the leaves of the pass now, by id."""
        leaves = (n.variable for n in self.graph.document.nodes if n.variable is not None)
        return {id: self.library.grad_value(self.graph.tensors[id]) for id in leaves if id in self.graph.tensors}

    # -- edits --------------------------------------------------------------------------------------------------------

    def edit(self, value: Any, index: int, step: int) -> None:
        """Replace the gradient that is about to enter output `index` of the node of a step. The recorded steps from there on
        are dropped, unless this raises. `value` may be a function of that gradient.
        ValueError: there is no such node or output, or the shape does not fit. TypeError: the index is no integer.
        """
        node = self._done[step].before.node if step < len(self._done) else self.task.peek()
        if node is None:
            raise ValueError("the backward pass is complete: there is no gradient to edit")
        if not isinstance(index, SupportsIndex):
            raise TypeError(f"edit(value, index) takes a whole number as index, got {type(index).__name__} ({index!r:.60})")
        count = len(self.task.input_buffers[node]) - 1
        if not 0 <= index < count:
            raise ValueError(f"{node.name()} has {count} outputs; there is no output {index}")
        if callable(value):  # of the gradient that is about to enter; zero if none was sent
            is_done = step < len(self._done)
            sent = self._done[step].before.engine.gradient(index) if is_done else self.task.input_buffers[node][index + 1]
            value = value(self.library.copy_of(self.gradient(0, node, index) if sent is None else sent))
        gradient = self.gradient(value, node, index)
        self.rewind(step)
        edits = self._edits.setdefault(len(self._done), {})
        edits.setdefault(index, self.task.input_buffers[node][index + 1])
        self.task.input_buffers[node][index + 1] = gradient

    def undo_edit(self) -> bool:
        """Undo an edit of the next node's gradients; False if there was none."""
        edits, node = self._edits.pop(len(self._done), {}), self.task.peek()
        for index, gradient in edits.items() if node is not None else ():
            self.task.input_buffers[node][index + 1] = gradient
        return bool(edits) and node is not None

    def edits(self) -> dict[int, Value]:
        """The user's edits for the next node, before it runs: output -> gradient."""
        node = self.task.peek()
        edited = self._edits.get(len(self._done), ())
        return {} if node is None else {i: self.library.value_of(self.task.input_buffers[node][i + 1]) for i in edited}

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grads that the user has changed outside the stepper: address -> present value."""
        return {f"{id}.grad": self.library.grad_value(t) for id, t in self._drift.found(among).items()}

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors (of these ids) whose data was changed in place after they were drawn, with their present values."""
        return self._rewrites.found(among)

    def spoiled(self) -> dict[str, str]:
        """The saved tensors of nodes still to run that were modified ("stale") or freed by others."""
        ran = {done.before.node for done in self._done[: self._position]}
        lost = [(self.graph.node_ids[node], self.lost(node)) for node in self.task.input_buffers if node not in ran]
        return {f"{id}.saved.{name}": state for id, of_node in lost for name, state in sorted(of_node.items())}
