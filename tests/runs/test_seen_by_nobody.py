"""What a program hears of its own training is the same with and without a watch: modes, classes, warnings, closures, swaps."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils import swap_tensors  # noqa: E402 - by its name, before any watch
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import autograd_viz as av  # noqa: E402

pytestmark = pytest.mark.torch
nn = torch.nn


class Functions(TorchFunctionMode):  # type: ignore[misc]
    """Hears of every function and attribute of PyTorch's."""

    def __init__(self, heard: list[Any]) -> None:
        super().__init__()
        self.heard = heard

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.heard.append(str(getattr(func, "__name__", func)))
        return func(*args, **(kwargs or {}))


class Ops(TorchDispatchMode):  # type: ignore[misc]
    """Hears of every op."""

    def __init__(self, heard: list[Any]) -> None:
        super().__init__()
        self.heard = heard

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.heard.append(str(func))
        return func(*args, **(kwargs or {}))


@contextmanager
def heard_warnings(heard: list[Any]) -> Iterator[None]:
    """Where each warning is, and what it says."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    heard += [(w.filename, w.lineno, w.category, str(w.message)) for w in said]


class Listening(torch.Tensor):  # type: ignore[misc]
    """Hears of all that is done to it."""

    heard: list[Any] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        Listening.heard.append(str(func))
        return super().__torch_function__(func, types, args, kwargs or {})


@contextmanager
def heard_by_the_class(heard: list[Any]) -> Iterator[None]:
    Listening.heard = heard
    yield


LISTENERS = {"functions": Functions, "ops": Ops, "class": heard_by_the_class, "warnings": heard_warnings}
WATCHES: dict[str, Callable[[Any], list[Any]]] = {
    "model": lambda model: [av.watch(model)],
    "all": lambda model: [av.watch()],
    "both": lambda model: [av.watch(), av.watch(model)],
    "both_turned": lambda model: [av.watch(model), av.watch()],
}


def warns(x: Any) -> Any:
    """Warnings of C++ and of Python, in the user's file and in PyTorch's."""
    y = x * 2
    _ = y.grad
    torch.tensor(torch.ones(2))
    nn.functional.softmax(torch.ones(2, 2))
    return nn.functional.mse_loss(y, torch.ones(1, *y.shape))


def program(model: Any, listener: Any, heard: list[Any], kind: type) -> None:
    """Two steps of training, one with a closure; all of the second is listened to."""
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    x = torch.linspace(0, 1, 6).reshape(3, 2)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(x.as_subclass(kind) if step and kind is not torch.Tensor else x).square().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss

    for step in range(3):
        with listener(heard) if step else nullcontext():
            if step == 1:
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()
            if step and listener is heard_warnings:
                warns(x.requires_grad_())


def told(watch: Callable[[Any], list[Any]], listener: Any) -> list[Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(inplace=True), nn.Linear(3, 1))
    heard: list[Any] = []
    with ExitStack() as stack:
        for watching in watch(model):
            stack.callback(watching.close)
        program(model, listener, heard, Listening if listener is heard_by_the_class else torch.Tensor)
    return heard


@pytest.mark.parametrize("watch", WATCHES)
@pytest.mark.parametrize("listener", LISTENERS)
def test_a_listener_hears_the_same(watch: str, listener: str) -> None:
    listening = LISTENERS[listener]
    told(lambda model: [], listening)  # what PyTorch says and reads once is over
    plain = told(lambda model: [], listening)
    assert plain
    assert told(WATCHES[watch], listening) == plain


def test_a_warning_keeps_to_the_filters_of_its_module_and_to_one_for_each_line() -> None:
    with av.watch(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", module=__name__.replace(".", r"\."))
        for _ in range(2):
            torch.tensor(torch.ones(2))
        torch.tensor(torch.ones(2))
    assert [w.filename for w in said] == [__file__] * 2


def test_an_error_has_the_frames_of_the_program_only_once() -> None:
    def raised(watch: Any) -> list[str]:
        with watch, pytest.raises(RuntimeError) as error:
            torch.cat([torch.ones(2), torch.ones(2, 2)])
        return [e.name for e in error.traceback if e.path == error.traceback[0].path]

    assert raised(av.watch()) == raised(nullcontext())


def graphs(watch: Callable[[Any], list[Any]]) -> list[int]:
    """How many graphs `torch.compile` makes of a model and of its optimizer's step, and of how many ops."""
    from torch._dynamo.testing import CompileCounter

    torch._dynamo.reset()
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    optimizer, of_model, of_step = torch.optim.SGD(model.parameters(), 0.1), CompileCounter(), CompileCounter()
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled, step = torch.compile(model, backend=of_model), torch.compile(optimizer.step, backend=of_step)
        for watching in watch(model):
            stack.callback(watching.close)
        for _ in range(2):
            optimizer.zero_grad()
            compiled(torch.ones(4, 2)).sum().backward()
            step()
    return [of_model.frame_count, of_model.op_count, of_step.frame_count, of_step.op_count]


@pytest.mark.parametrize("watch", WATCHES)
def test_as_many_graphs_are_compiled_of_as_many_ops(watch: str) -> None:
    """(It loads the compiler.)"""
    assert graphs(WATCHES[watch]) == graphs(lambda model: [])


@pytest.mark.parametrize("watch", WATCHES)
def test_a_closure_keeps_its_arguments_name_and_attributes(watch: str) -> None:
    class Asking(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:  # type: ignore[override]
            names.append((closure.__name__, closure.mark))
            return closure(2.0, bias=1.0)

    model, names = nn.Linear(1, 1), list[Any]()

    def closure(scale: float, *, bias: float) -> tuple[float, float]:
        return scale, bias

    closure.mark = "mine"  # type: ignore[attr-defined]
    with ExitStack() as stack:
        for watching in WATCHES[watch](model):
            stack.callback(watching.close)
        assert Asking(model.parameters(), 0.1).step(closure) == (2.0, 1.0)
    assert names == [("closure", "mine")]


@pytest.mark.parametrize("watch", WATCHES)
def test_a_closure_that_is_an_object_keeps_its_class_and_attributes(watch: str) -> None:
    class Closure:
        mark, calls = "of the class", 0

        def __call__(self, scale: float) -> float:
            self.calls += 1
            return scale

    class Asking(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:  # type: ignore[override]
            seen.append((getattr(closure, "mark", ""), isinstance(closure, Closure), getattr(closure, "func", None)))
            closure.result = closure(2.0) if closure.__class__ is Closure else closure()

    seen: list[Any] = []
    model, mine = nn.Linear(2, 2), Closure()
    with ExitStack() as stack:
        for watching in WATCHES[watch](model):
            stack.callback(watching.close)
        Asking(model.parameters(), 0.1).step(mine)
        Asking(model.parameters(), 0.1).step(closure=functools.partial(mine, 2.0))
    assert seen == [("of the class", True, None), ("", False, mine)]
    assert (mine.calls, mine.result) == (2, 2.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("watch", WATCHES)
def test_warnings_of_a_module_deep_in_pytorch_keep_their_place(watch: str) -> None:
    """`nn.Softmax` counts five frames up to the place that it blames."""
    model, found = nn.Sequential(nn.Linear(2, 2), nn.Softmax(), nn.LogSoftmax(), nn.Softmin()), list[list[Any]]()
    for watching_of in (lambda model: [], WATCHES[watch]):
        found.append([])
        with ExitStack() as stack:
            for watching in watching_of(model):
                stack.callback(watching.close)
            with heard_warnings(found[-1]):
                for _ in range(2):  # the first call of a function, and a later one
                    model(torch.ones(2, 2))
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("watch", WATCHES)
def test_a_model_is_traced_as_ever(watch: str) -> None:
    """`torch.jit.trace` checks that the model gives the same graph twice, also by its lines."""
    with ExitStack() as stack:
        model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.GELU())
        for watching in WATCHES[watch](model):
            stack.callback(watching.close)
        torch.jit.trace(model, torch.ones(1, 2))


def test_a_loop_with_a_closure_is_not_told_to_call_backward_first() -> None:
    with av.watch():
        for optimize in (lambda p: torch.optim.LBFGS(p, max_iter=1), lambda p: torch.optim.SGD(p, 0.1)):
            model, x = nn.Linear(2, 1), torch.randn(8, 2)
            optimizer = optimize(model.parameters())

            def closure() -> Any:
                optimizer.zero_grad()  # noqa: B023
                loss = model(x).square().mean()  # noqa: B023
                loss.backward()
                return loss

            for _ in range(3):
                optimizer.step(closure)
            assert "step() runs before" not in str(av.explain(model.weight))


def test_a_tensor_is_swapped_by_a_name_that_was_imported_before() -> None:
    with av.watch() as watch:
        a, b = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
        (a * b).sum().backward()
        swap_tensors(a, b)
        assert a.tolist() == [0.0, 0.0] and watch.faults == ()


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_what_is_replaced_is_given_back_in_any_order_of_closing(order: tuple[int, ...]) -> None:
    owners = torch.autograd, nn.Module, torch.utils, torch.overrides, nn.Parameter, nn.utils.clip_grad, torch.amp.GradScaler
    before = [dict(vars(owner)) for owner in owners]
    models = nn.Linear(1, 1), nn.Linear(1, 1)
    watches = [make() for make in (lambda: av.watch(models[0]), av.watch, lambda: av.watch(models[1]))[: len(order)]]
    for place in order:
        watches[place].close()
    after = [dict(vars(owner)) for owner in owners]
    pairs = [(name, a, b) for a, b in zip(before, after, strict=True) for name in a.keys() | b.keys()]
    assert [name for name, a, b in pairs if a.get(name) is not b.get(name)] == []


@pytest.mark.parametrize("is_early", [False, True])
def test_what_a_pass_has_freed_reads_as_freed_and_the_pass_can_be_stepped(is_early: bool) -> None:
    with av.watch() as watch:
        a = torch.tensor(2.0, requires_grad=True)
        y = a * torch.tensor(3.0, requires_grad=True)
        loss = y * y
        early = loss.grad_fn if is_early else None
        loss.backward()
        node = early or loss.grad_fn
        with pytest.raises(RuntimeError, match="second time"):
            _ = node._saved_self
        with torch.no_grad():
            a.add_(1)
        with pytest.warns(UserWarning, match="changed after the pass: a"):
            s = av.step()
        s.finish()
        assert a.grad.item() == 72.0 and watch.faults == ()  # 36 of backward(), and again
        s.reset()
        assert a.grad.item() == 36.0
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()


def test_a_node_that_is_read_in_a_hook_leaves_the_pass_alone() -> None:
    with av.watch() as watch:
        x = torch.tensor(2.0, requires_grad=True)
        y = x * x
        z = y.exp()
        z.register_hook(lambda grad: y.grad_fn and None)
        z.backward()
        assert x.grad.item() == pytest.approx(4 * torch.tensor(4.0).exp().item()) and watch.faults == ()
