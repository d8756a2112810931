"""More programs that are run in both: decorators, Functions, strictness, hooks, checkpoints."""

from __future__ import annotations

import contextlib
import gc
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

from .programs import leaf, names, program, told


@program
def grad_modes_decorate_functions_generators_and_classes(torch: Any) -> Iterator[Any]:
    @torch.no_grad
    def plain() -> bool:
        return bool(torch.is_grad_enabled())

    @torch.no_grad()
    def numbers() -> Iterator[Any]:
        sent = yield torch.is_grad_enabled()
        while sent is not None:
            sent = yield sent, torch.is_grad_enabled()

    generator = numbers()
    yield plain(), next(generator), torch.is_grad_enabled(), generator.send(5), torch.is_grad_enabled()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")

        @torch.no_grad()
        class Made:
            def __init__(self) -> None:
                self.enabled = torch.is_grad_enabled()

    yield str(warned[0].message), Made().enabled


@program
def set_grad_enabled_as_a_decorator_leaves_the_mode_alone(torch: Any) -> Iterator[Any]:
    @torch.set_grad_enabled(False)
    def inside() -> bool:
        return bool(torch.is_grad_enabled())

    yield torch.is_grad_enabled(), inside(), torch.is_grad_enabled()


@program
def any_name_is_free_on_ctx(torch: Any) -> Iterator[Any]:
    for name in ("inputs", "outputs", "options", "op", "at", "order", "node", "saved", "release", "recall", "function"):

        class Times(torch.autograd.Function):  # type: ignore[misc]
            note = name

            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                setattr(ctx, Times.note, 5.0)
                return x * 2

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                return grad * getattr(ctx, Times.note)

        x = leaf(torch, 1.0)
        (Times.apply(x) * 3).backward()
        yield name, x.grad


@program
def an_old_variable_is_a_tensor(torch: Any) -> Iterator[Any]:
    x = torch.ones(2)
    v = torch.autograd.Variable(x, requires_grad=True)
    yield type(v) is torch.Tensor, isinstance(x, torch.autograd.Variable), v.requires_grad, x.requires_grad
    (v * 2).sum().backward()
    yield v.grad, v.data_ptr() == x.data_ptr()


@program
def callbacks_wait_for_the_end_of_the_pass(torch: Any) -> Iterator[Any]:
    engine = torch.autograd.Variable._execution_engine
    said: list[Any] = []
    x = leaf(torch, 2.0)
    y = x * 3
    y.register_hook(lambda g: engine.queue_callback(lambda: said.append(x.grad.item())))
    y.backward()
    yield said
    engine.queue_callback(lambda: None)


@program
def what_cannot_be_differentiated_twice_ends_in_an_error_node(torch: Any) -> Iterator[Any]:
    class Once(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, n: int) -> Any:
            return x * n

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2, None

    x, seed = leaf(torch, 1.0), leaf(torch, 1.0)
    (g,) = torch.autograd.grad(Once.apply(x, 2), x, seed, create_graph=True)
    yield g, g.grad_fn.name(), names(g.grad_fn)
    g.backward()


@program
def defaults_of_forward_reach_setup_context(torch: Any) -> Iterator[Any]:
    class Power(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, n: int = 3) -> Any:
            return x**n

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * ctx.n * x ** (ctx.n - 1), None

    x = leaf(torch, 2.0)
    Power.apply(x).backward()
    yield x.grad


@program
def a_view_made_and_changed_inside_a_function_may_be_returned(torch: Any) -> Iterator[Any]:
    class Part(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            view = x.clone()[:1]
            view += 2
            return view

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return torch.cat([grad, grad])

    part = Part.apply(leaf(torch, 1.0, 2.0))
    yield part, part.grad_fn.name()
    part += 1


@program
def retained_gradients_follow_every_view(torch: Any) -> Iterator[Any]:
    base = leaf(torch, 1.0, 2.0).clone()
    base.retain_grad()
    one, other = base[:], base[:]
    one.retain_grad()
    other.retain_grad()
    one.mul_(2)
    (one + other).sum().backward()
    yield one.grad, other.grad, base.grad


@program
def multi_grad_hooks_count_what_arrives_in_this_pass(torch: Any) -> Iterator[Any]:
    x, y, z = leaf(torch, 2.0), leaf(torch, 3.0), leaf(torch, 4.0)
    said: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: said.append([g is not None for g in grads]))
    torch.autograd.graph.register_multi_grad_hook((x, z), lambda grad: said.append("any"), mode="any")
    (x * z).backward()
    (x * y).backward()
    (x * y * z).backward(inputs=[y, z])
    yield said


@program
def plain_numbers_do_not_meet_pack_hooks(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: said.append(t) or t, lambda t: t):
        (x * 3).backward()
    yield said, x.grad


@program
def forbidding_hooks_inside_hooks_is_refused(torch: Any) -> Iterator[Any]:
    with (
        torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"),
    ):
        yield


@program
def a_view_from_inference_mode_says_so(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0).clone()
    with torch.inference_mode():
        view = x[:1]
    view.add_(1)
    yield


@program
def strict_derivatives_refuse_what_does_not_depend(torch: Any) -> Iterator[Any]:
    functional = torch.autograd.functional
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0])
    functions = [lambda t: t.detach(), lambda t: t.detach().requires_grad_().clone(), lambda t: t.clone()]
    for f in functions:
        for call in (
            lambda f=f: functional.vjp(f, x, v, strict=True),
            lambda f=f: functional.jvp(f, x, v, strict=True),
            lambda f=f: functional.jacobian(f, x, strict=True),
            lambda f=f: functional.hessian(lambda t: f(t).sum(), x, strict=True),
            lambda f=f: functional.hvp(lambda t: f(t).sum(), x, v, strict=True),
            lambda f=f: functional.vjp(f, x, v, create_graph=True, strict=True),
            lambda f=f: functional.vjp(f, x, (v, v)),
            lambda f=f: functional.vhp(lambda t: (f(t), t), x, v),
        ):
            try:
                yield call()
            except (RuntimeError, TypeError) as error:
                yield str(error)


@program
def a_checkpointed_function_runs_twice(torch: Any) -> Iterator[Any]:
    from_there = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"])
    for reentrant in (False, True):
        calls: list[int] = []

        def twice(t: Any, calls: list[int] = calls) -> Any:
            calls.append(1)
            return t.sin().exp()

        x = leaf(torch, 1.0)
        y = from_there.checkpoint(twice, x, use_reentrant=reentrant)
        yield len(calls), y.grad_fn.name()
        y.backward()
        yield len(calls), x.grad


@program
def a_reentrant_checkpoint_needs_a_whole_backward(torch: Any) -> Iterator[Any]:
    from_there = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"])
    x = leaf(torch, 1.0)
    torch.autograd.grad(from_there.checkpoint(torch.exp, x, use_reentrant=True), x)
    yield


@program
def of_functions_in_a_row_all_parts_but_the_last_are_checkpointed(torch: Any) -> Iterator[Any]:
    from_there = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint_sequential"])
    for segments in (1, 2, 3):
        calls: list[int] = []
        row = [lambda t, k=k, calls=calls: calls.append(k) or (t + k).sin() for k in range(5)]
        x = leaf(torch, 1.0)
        y = from_there.checkpoint_sequential(row, segments, x, use_reentrant=False)
        y.backward()
        yield calls, y, x.grad


@program
def gradcheck_sees_inputs_as_they_are(torch: Any) -> Iterator[Any]:
    def hooked(t: Any) -> Any:
        y = t * 3
        y.register_hook(lambda g: g)
        return y

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    yield torch.autograd.gradcheck(hooked, x), torch.autograd.gradcheck(lambda t: t.expand(3, 2), x)
    torch.autograd.gradcheck(hooked, torch.ones(1, dtype=torch.float64, requires_grad=True).expand(3))


@program
def a_checkpoint_runs_in_contexts_and_keeps_what_needs_no_gradient(torch: Any) -> Iterator[Any]:
    from_there = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"])
    said: list[Any] = []

    @contextlib.contextmanager
    def saying(name: str) -> Iterator[None]:
        said.append(name)
        yield

    class Keeps(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, constant: Any) -> Any:
            ctx.save_for_backward(constant)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            said.append(ctx.saved_tensors[0] is constant)
            return grad, None

    x, constant = leaf(torch, 1.0), torch.ones(())
    options = {"use_reentrant": False, "context_fn": lambda: (saying("first"), saying("second"))}
    from_there.checkpoint(Keeps.apply, x, constant, **options).backward()
    yield said
    options["use_reentrant"] = True
    yield told(lambda: from_there.checkpoint(torch.exp, x, **options))


@program
def a_checkpoint_that_saves_something_else_the_second_time(torch: Any) -> Iterator[Any]:
    from_there = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"])

    def second_run(again: Any, **options: Any) -> Any:
        calls: list[int] = []

        def changes(x: Any) -> Any:
            calls.append(1)
            return x.sin().exp() if len(calls) == 1 else again(x)

        y = from_there.checkpoint(changes, torch.ones(1, requires_grad=True), use_reentrant=False, **options)
        return str(told(lambda: y.sum().backward()))

    differences = (torch.sin, lambda x: x.sin() * torch.tensor([1.0, 2.0]), lambda x: x.sin().exp().sin())
    for again in differences:
        yield second_run(again).split("\n\nIf this")[0].rstrip()
    with from_there.set_checkpoint_early_stop(False):
        yield second_run(differences[2]).split("\n\nIf this")[0].rstrip()
    for enabled in (True, False, None):
        with from_there.set_checkpoint_debug_enabled(enabled):
            for debug in (True, False):
                yield "You are seeing this error because you passed `debug=True`" in second_run(torch.sin, debug=debug)


@program
def graphs_of_functions_are_freed_without_the_collector(torch: Any) -> Iterator[Any]:
    from_there = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"])
    outputs: list[Any] = []

    class Double(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.save_for_backward(x, y)
            outputs.append(weakref.ref(y))
            return y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * len(ctx.saved_tensors)

    def run(op: Any) -> None:
        (op(leaf(torch, 1.0, 2.0)) * 3).sum().backward()

    gc.collect()
    gc.disable()
    try:
        run(Double.apply)
        run(lambda x: from_there.checkpoint(Double.apply, x, use_reentrant=False))
        yield [reference() is None for reference in outputs]
    finally:
        gc.enable()


@program
def one_unpacking_for_all_the_rules_of_a_node(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x, z = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: said.append("unpacked") or t):
        torch.where(x > 1, x, z).sum().backward()
    yield said, x.grad, z.grad


@program
def inference_mode_is_stronger_than_enable_grad(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    with torch.inference_mode(), torch.enable_grad():
        y = x * 2
        yield y.requires_grad, y.is_inference()
        with torch.inference_mode(False):
            yield (x * 2).requires_grad
        torch.set_grad_enabled(True)
        yield (x * 2).requires_grad
    yield (x * 2).requires_grad
