"""Small programs about PyTorch's behaviour, written once and run in both: each says things, raises, or warns.

A program is a generator over a torch-like module; what it yields is compared as text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

PROGRAMS: dict[str, Callable[[Any], Iterator[Any]]] = {}


def program(function: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    PROGRAMS[function.__name__] = function
    return function


def outcome(function: Callable[[Any], Iterator[Any]], torch: Any) -> list[str]:
    """Everything that a run of the program says, with the error that ended it and the warnings on the way."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            said.extend(map(text, function(torch)))
        except Exception as error:
            said.append(f"!! {type(error).__name__}: {error}")
    said += [f"?? {w.category.__name__}: {str(w.message).split(' Traceback of')[0].split(' (Triggered')[0]}" for w in warned]
    return [re.sub(r"0x[0-9a-f]+", "0x…", s) for s in said]


def text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + ", ".join(text(v) for v in value) + ")"
    return str(value)


def names(node: Any) -> list[Any]:
    """The names behind next_functions."""
    return [(n.name() if n is not None else None, i) for n, i in node.next_functions]


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values) if len(values) != 1 else values[0], requires_grad=True)


# -- backward and grad ------------------------------------------------------------------------------------------------


@program
def inputs_may_be_non_leaves_and_keep_their_gradient(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    (y * y).backward(inputs=[y])
    yield y.grad, x.grad, y.retains_grad


@program
def inputs_run_the_hooks_of_the_leaves_named(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    said: list[Any] = []
    x.register_hook(lambda g: said.append(("x", g)))
    w.register_hook(lambda g: said.append(("w", g)))
    x.register_post_accumulate_grad_hook(lambda t: said.append(("post", t.grad)))
    (x * w).backward(inputs=[x])
    yield said, x.grad, w.grad


@program
def grad_sees_hooks_only_where_the_pass_ends(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    z = y * y
    y.register_hook(lambda g: g * 10)
    yield torch.autograd.grad(z, [y, x], retain_graph=True)
    yield torch.autograd.grad(z, [y], retain_graph=True)


@program
def prehooks_do_not_change_what_grad_returns_for_their_own_node(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    z = y * y
    y.grad_fn.register_prehook(lambda g: (g[0] * 10,))
    yield torch.autograd.grad(z, [y, x], retain_graph=True)
    yield torch.autograd.grad(z, [y])


@program
def a_gradient_edge_stands_for_a_tensor(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    z = y * 3
    yield torch.autograd.grad(z, [edge], retain_graph=True)
    yield torch.autograd.grad([edge], [x], [torch.tensor(5.0)])


@program
def the_same_tensor_may_be_wanted_twice(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    yield torch.autograd.grad(x * x, [x, x])


@program
def several_roots_one_inside_the_graph_of_the_other(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * x
    torch.autograd.backward([y, y * y])
    yield x.grad


@program
def empty_inputs_of_grad(torch: Any) -> Iterator[Any]:
    torch.autograd.grad(leaf(torch, 1.0) * 2, [])
    yield


@program
def materialized_gradients_are_zeros(torch: Any) -> Iterator[Any]:
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    yield torch.autograd.grad(y * 2, [x, y], materialize_grads=True)


@program
def a_pass_that_fails_leaves_grad_mode_alone(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    y.register_hook(lambda g: 1 / 0)
    try:
        y.backward(create_graph=True)
    except ZeroDivisionError:
        yield "raised", torch.is_grad_enabled()
    with torch.no_grad():
        try:
            torch.autograd.grad(x * x, x)
        except RuntimeError as error:
            yield str(error), torch.is_grad_enabled()


@program
def a_backward_inside_a_hook_and_inside_a_function(torch: Any) -> Iterator[Any]:
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x * ctx.x
            return ctx.y.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with torch.enable_grad():
                ctx.y.sum().backward()
            return ctx.x.grad * grad

    x = leaf(torch, 2.0)
    (Inner.apply(x) * 3).backward()
    yield x.grad


# -- hooks ------------------------------------------------------------------------------------------------------------


@program
def handles_remove_hooks(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []
    first = x.register_hook(lambda g: said.append("first"))
    x.register_hook(lambda g: said.append("second"))
    first.remove()
    with x.register_hook(lambda g: said.append("third")):
        (x * 2).backward()
    (x * 2).backward()
    yield said


@program
def a_hook_that_removes_itself_does_not_disturb_the_others(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []
    handles: list[Any] = []
    handles.append(x.register_hook(lambda g: handles[0].remove()))
    x.register_hook(lambda g: said.append(g))
    (x * 2).backward()
    (x * 3).backward()
    yield said


@program
def posthooks_may_change_what_leaves(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 2.0), leaf(torch, 5.0)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, gi[1]))
    y.backward()
    yield x.grad, w.grad


@program
def a_posthook_must_return_a_tuple(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0).exp()
    y.grad_fn.register_hook(lambda gi, go: torch.ones(()))
    y.backward()
    yield


@program
def a_posthook_must_return_as_many_as_leave(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0) * 2
    y.grad_fn.register_hook(lambda gi, go: (None,))
    y.backward()
    yield


@program
def a_hook_must_keep_the_type(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0) * 2
    y.register_hook(lambda g: g.double())
    y.backward()
    yield


@program
def hooks_on_outputs_of_one_node_see_their_own_gradient(torch: Any) -> Iterator[Any]:
    a, b = leaf(torch, 1.0, 2.0).unbind(0)
    said: list[Any] = []
    a.register_hook(lambda g: said.append(("a", g)))
    b.register_hook(lambda g: said.append(("b", g)))
    (a * 2 + b * 3).backward()
    yield said


@program
def retained_gradients_accumulate_and_see_hooks(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g + 1)
    y.backward(retain_graph=True)
    yield y.grad
    y.backward()
    yield y.grad, x.grad


@program
def hooks_under_create_graph_see_tensors_with_history(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 3.0)
    y = x * x
    said: list[Any] = []
    x.register_hook(lambda g: said.append(g.requires_grad))
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    yield said, g.requires_grad


@program
def post_accumulate_hooks_must_return_none(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    x.register_post_accumulate_grad_hook(lambda t: t)
    (x * 2).backward()
    yield


@program
def hooks_see_none_where_no_gradient_came(torch: Any) -> Iterator[Any]:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    x = leaf(torch, 1.0)
    said: list[Any] = []
    x.register_hook(lambda g: said.append(("leaf", g)))
    x.register_post_accumulate_grad_hook(lambda t: said.append(("post", t.grad)))
    Nothing.apply(x).backward()
    a, b = leaf(torch, 1.0, 2.0).unbind(0)
    b.register_hook(lambda g: said.append(("b", g)))
    a.backward()
    yield said, x.grad


@program
def multi_grad_hooks_fire_once_with_all(torch: Any) -> Iterator[Any]:
    x, w, unused = leaf(torch, 2.0), leaf(torch, 3.0), leaf(torch, 4.0)
    said: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x, w), lambda grads: said.append(tuple(grads)))
    (x * w).backward()
    yield said
    torch.autograd.graph.register_multi_grad_hook((x, w), said.append, mode="any")
    (x * w).backward()
    yield len(said), unused.grad


# -- saved tensors ----------------------------------------------------------------------------------------------------


@program
def pack_and_unpack_see_every_saved_tensor(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []

    def pack(t: Any) -> Any:
        said.append(("pack", t))
        return t.detach() * 10

    def unpack(t: Any) -> Any:
        said.append(("unpack", t))
        return t / 10

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    y.backward()
    yield said, x.grad


@program
def the_innermost_pair_of_hooks_counts(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: said.append("outer") or t, lambda t: t), hooks(lambda t: said.append("inner") or t, lambda t: t):
        y = x * x
    y.backward()
    yield said, x.grad


@program
def hooks_on_one_saved_tensor(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0).exp()
    raw = y.grad_fn._raw_saved_result
    raw.register_hooks(lambda t: t * 2, lambda t: t)
    yield torch.autograd.grad(y, y.grad_fn.next_functions[0][0].variable, retain_graph=True)
    raw.register_hooks(lambda t: t, lambda t: t)


@program
def what_unpack_returns_must_be_a_tensor(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: 3, lambda t: 4)
    y.backward()
    yield


@program
def hooks_can_be_forbidden(torch: Any) -> Iterator[Any]:
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        yield "inside"
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            yield "never"


@program
def saving_on_the_cpu_gives_the_same_gradients(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    with torch.autograd.graph.save_on_cpu():
        y = x * x * x
    y.backward()
    yield x.grad


# -- in place ---------------------------------------------------------------------------------------------------------


@program
def writing_into_a_slice_of_a_result(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 1.0, 2.0, 3.0, 4.0), leaf(torch, 5.0)
    y = x * 2
    y[1:3] = w
    yield y, y.grad_fn.name(), names(y.grad_fn)
    (y * y).sum().backward()
    yield x.grad, w.grad


@program
def a_view_made_before_the_change_follows_it(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 2
    v = y.view(2, 2)
    row = v[1]
    y.mul_(3)
    yield v.grad_fn.name(), row.grad_fn.name(), row
    row.add_(1)
    yield y, v, y.grad_fn.name(), y._version
    (v.sum() + row.sum()).backward()
    yield x.grad


@program
def views_of_views_share_base_and_version(torch: Any) -> Iterator[Any]:
    base = leaf(torch, 1.0, 2.0, 3.0, 4.0) * 1
    v = base.view(2, 2).t()[0]
    yield v._base is base, v._is_view(), base._is_view()
    v.zero_()
    yield base, base._version, v._version


@program
def a_base_without_grad_gets_history_from_what_is_written(torch: Any) -> Iterator[Any]:
    base, w = torch.zeros(3), leaf(torch, 2.0)
    v = base[1]
    yield base.requires_grad, v.requires_grad
    v.copy_(w * 2)
    yield base.requires_grad, base.grad_fn.name(), names(base.grad_fn)
    (base * base).sum().backward()
    yield w.grad


@program
def unbind_views_must_not_be_written(torch: Any) -> Iterator[Any]:
    a, _ = (leaf(torch, 1.0, 2.0) * 1).unbind(0)
    a.mul_(2)
    yield


@program
def a_view_of_a_leaf_must_not_be_written(torch: Any) -> Iterator[Any]:
    leaf(torch, 1.0, 2.0)[0].zero_()
    yield


@program
def a_leaf_is_changed_under_no_grad(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        x[0] = 5.0
        x += 1
    yield x, x._version


@program
def a_saved_input_changed_through_a_view_is_noticed(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    z = y * y
    y[0].zero_()
    z.sum().backward()
    yield


@program
def a_saved_result_changed_is_noticed(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 1.0, 2.0).tanh()
    y.mul_(2)
    y.sum().backward()
    yield


@program
def in_place_functions_save_the_new_value(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = (x * 1).exp_()
    yield y.grad_fn._saved_result, y._version
    y.sum().backward()
    yield x.grad


@program
def hooks_stay_with_the_value_they_were_registered_on(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    said: list[Any] = []
    y.register_hook(lambda g: said.append(("before", g)))
    y.retain_grad()
    y.mul_(4)
    y.register_hook(lambda g: said.append(("after", g)))
    y.backward()
    yield said, y.grad, x.grad


@program
def detach_shares_memory_and_version_but_is_no_view(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 1.0, 2.0) * 1
    d = y.detach()
    d.zero_()
    yield y, y._version, d._version, d._is_view(), d.requires_grad


@program
def data_is_not_noticed(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * x
    x.data.fill_(10.0)
    y.backward()
    yield x.grad, x._version


@program
def the_second_gradient_goes_through_a_written_slice(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0)
    y = x * x
    y[0:2].mul_(x[1:3])
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    yield g.detach()
    yield torch.autograd.grad(g.sum(), x)


# -- Function ---------------------------------------------------------------------------------------------------------


def doubling(torch: Any) -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    return Double


@program
def a_dirty_input_becomes_the_output(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    z = doubling(torch).apply(y)
    yield z is y, y, y.grad_fn.name(), y._version
    z.sum().backward()
    yield x.grad


@program
def a_dirty_leaf_is_refused(torch: Any) -> Iterator[Any]:
    doubling(torch).apply(leaf(torch, 1.0))
    yield


@program
def a_dirty_view_changes_its_base(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0)
    base = x * 1
    doubling(torch).apply(base[1:])
    yield base, base.grad_fn.name()
    base.sum().backward()
    yield x.grad


@program
def setup_context_keeps_what_backward_needs(torch: Any) -> Iterator[Any]:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

    x = leaf(torch, 2.0)
    y = Cube.apply(x)
    yield y
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    yield g.detach(), torch.autograd.grad(g, x)


@program
def values_that_are_no_tensors_pass_through(torch: Any) -> Iterator[Any]:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 3, x * 2

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return b * (10 if a is None else 1)

    x = leaf(torch, 1.0)
    three, y = Both.apply(x)
    yield three, y, y.output_nr
    y.backward()
    yield x.grad


@program
def an_input_returned_as_it_is_becomes_a_view(torch: Any) -> Iterator[Any]:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = leaf(torch, 1.0)
    y = Same.apply(x * 1)
    yield y, y._is_view()
    y.backward()
    yield x.grad


@program
def only_tensors_can_be_saved(torch: Any) -> Iterator[Any]:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(3)
            return x * 1

    Bad.apply(leaf(torch, 1.0))
    yield


@program
def what_backward_returns_must_be_tensors(torch: Any) -> Iterator[Any]:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 3.0

    Bad.apply(leaf(torch, 1.0)).backward()
    yield


@program
def unused_outputs_get_zeros_or_none(torch: Any) -> Iterator[Any]:
    def make(zeros: bool) -> Any:
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(zeros)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx: Any, a: Any, b: Any) -> Any:
                said.append(b)
                return a * 2

        return Two

    said: list[Any] = []
    for zeros in (True, False):
        x = leaf(torch, 1.0)
        make(zeros).apply(x)[0].backward()
        yield said, x.grad


@program
def a_functions_node_is_its_ctx(torch: Any) -> Iterator[Any]:
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: Any) -> Any:
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.k, None

    y = Keep.apply(leaf(torch, 1.0), 7)
    yield y.grad_fn.k, y.grad_fn.needs_input_grad, y.grad_fn.name(), len(y.grad_fn.next_functions)
    y.grad_fn.metadata["note"] = 1
    yield y.grad_fn.metadata


# -- modes ------------------------------------------------------------------------------------------------------------


@program
def no_grad_is_a_decorator_too(torch: Any) -> Iterator[Any]:
    @torch.no_grad()
    def f(x: Any) -> Any:
        return x * 2

    yield f(leaf(torch, 1.0)).requires_grad, torch.is_grad_enabled()


@program
def anomaly_mode_tells_where_an_error_comes_from(torch: Any) -> Iterator[Any]:
    with torch.autograd.set_detect_anomaly(True):
        yield torch.is_anomaly_enabled()
        leaf(torch, -1.0).sqrt().backward()


@program
def anomaly_mode_off_lets_nan_pass(torch: Any) -> Iterator[Any]:
    x = leaf(torch, -1.0)
    x.sqrt().backward()
    yield x.grad, torch.is_anomaly_enabled()


@program
def inference_tensors_stay_out_of_autograd(torch: Any) -> Iterator[Any]:
    with torch.inference_mode():
        y = torch.ones(2) * 2
        yield y.is_inference(), torch.is_inference_mode_enabled()
    yield (y + 1).is_inference()
    try:
        y.add_(1)
    except RuntimeError as error:
        yield str(error)
    leaf(torch, 1.0) * y


@program
def functional_derivatives(torch: Any) -> Iterator[Any]:
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    yield f.jacobian(lambda x: x * x, x)
    yield f.hessian(lambda x: (x**3).sum(), x)
    yield f.vjp(lambda x: x * x, x, torch.tensor([1.0, 0.5]))
    yield f.jvp(lambda x: x * x, x, torch.tensor([1.0, 0.5]))
    yield f.hvp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 0.5]))
    yield f.jacobian(lambda x, y: (x * y.sum(), x + 1), (x, torch.tensor([3.0])))
    yield f.hessian(lambda x, y: (x * y).sum(), (x, x))


@program
def functional_errors(torch: Any) -> Iterator[Any]:
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    for call in (
        lambda: f.vjp(lambda x: x * x, x),
        lambda: f.vjp(lambda x: x * x, x, torch.ones(3)),
        lambda: f.hessian(lambda x: x * x, x),
        lambda: f.jacobian(lambda x: torch.ones(2), x, strict=True),
    ):
        try:
            yield call()
        except (RuntimeError, TypeError) as error:
            yield type(error).__name__, str(error).split("\n")[0]


@program
def gradcheck_finds_a_wrong_backward(torch: Any) -> Iterator[Any]:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    yield torch.autograd.gradcheck(lambda x: x.exp() * x, x), torch.autograd.gradgradcheck(lambda x: x.exp() * x, x)
    yield torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False)
    try:
        torch.autograd.gradcheck(Wrong.apply, (x,))
    except RuntimeError as error:
        yield type(error).__name__, str(error).split("\n")[0]


# -- out= -------------------------------------------------------------------------------------------------------------


@program
def out_is_written_and_resized(torch: Any) -> Iterator[Any]:
    x, result = torch.arange(4.0), torch.zeros(4)
    yield torch.add(x, 1, out=result) is result, result, result._version
    yield torch.matmul(x.view(2, 2), x.view(2, 2), out=torch.empty(0)), torch.mul(x, 2, out=None)
    yield torch.exp(x, out=torch.zeros(2))


@program
def out_is_refused_where_something_requires_grad(torch: Any) -> Iterator[Any]:
    with torch.no_grad():
        yield torch.mul(leaf(torch, 1.0, 2.0), 2, out=torch.zeros(2))
    torch.mul(leaf(torch, 1.0, 2.0), 2, out=torch.zeros(2))


@program
def out_must_be_able_to_hold_the_result(torch: Any) -> Iterator[Any]:
    yield torch.add(torch.arange(2), 1, out=torch.zeros(2))
    torch.add(torch.ones(2), 1, out=torch.zeros(2, dtype=torch.int64))


@program
def a_variable_is_a_tensor(torch: Any) -> Iterator[Any]:
    x = torch.ones(2)
    v = torch.autograd.Variable(x, requires_grad=True)
    (v * 3).sum().backward()
    x[0] = 5
    yield v, v.grad, type(v) is torch.Tensor, isinstance(x, torch.autograd.Variable), x.requires_grad
    torch.autograd.Variable(3)


@program
def a_hard_choice_has_the_gradient_of_a_soft_one(torch: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    logits = leaf(torch, 0.1, 0.5, -0.3)
    choice = torch.nn.functional.gumbel_softmax(logits, tau=0.5, hard=True)
    (choice * torch.arange(3)).sum().backward()
    yield choice.detach().round(), logits.grad, torch.nn.functional.gumbel_softmax(logits.detach())
