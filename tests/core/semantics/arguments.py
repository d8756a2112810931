"""Programs about what backward() and grad() are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, program, told


@program
def what_grad_is_given(torch: Any) -> Iterator[Any]:
    grad = torch.autograd.grad
    x, z = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    y = x * x
    s = y.sum()
    ones = torch.ones(2)
    calls: list[Callable[[], Any]] = [
        lambda: grad(y, x, torch.ones(2, 1)),
        lambda: grad(y, x, torch.ones(2, dtype=torch.float64), retain_graph=True),
        lambda: grad(y, x, torch.ones(2, dtype=torch.int64), retain_graph=True),
        lambda: grad(y, x, torch.ones(2, dtype=torch.complex64)),
        lambda: grad(y, x, 3.0),
        lambda: grad(y, x, [1.0, 2.0]),
        lambda: grad(y, x, (ones, ones), retain_graph=True),
        lambda: grad((y, s), x, ones),
        lambda: grad((y, s), x, (ones, None), retain_graph=True),
        lambda: grad(s, [x, None]),
        lambda: grad(s, [x, 3]),
        lambda: grad(s, 3),
        lambda: grad(s, None),
        lambda: grad(3, x),
        lambda: grad([3], x),
        lambda: grad(None, x),
        lambda: grad([], [x]),
        lambda: grad(s, [x, z]),
        lambda: grad(s, (t for t in (x, x)), retain_graph=True),
        lambda: grad(s, [z], allow_unused=False, materialize_grads=True),
        lambda: grad(s, [x, z], materialize_grads=True, retain_graph=True),
        lambda: grad(s, [x, z], materialize_grads=True, create_graph=True),
        lambda: grad(z, z),
    ]
    for call in calls:
        yield told(call)


@program
def what_backward_is_given(torch: Any) -> Iterator[Any]:
    backward = torch.autograd.backward
    x, z = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    y = x * x
    s = y.sum()
    calls: list[Callable[[], Any]] = [
        lambda: backward([y, s], [torch.ones(2)]),
        lambda: backward([y, s], [torch.ones(2), None], retain_graph=True),
        lambda: backward(s, [None, torch.ones(2)], retain_graph=True),
        lambda: backward([]),
        lambda: backward(None),
        lambda: backward(3),
        lambda: backward([s, 3]),
        lambda: backward(s, 3),
        lambda: backward(s, "one"),
        lambda: backward(s, inputs=[]),
        lambda: backward(s, inputs=3),
        lambda: backward(s, inputs=[3]),
        lambda: backward(s, inputs=[torch.ones(2)]),
        lambda: backward(s, inputs=z, retain_graph=True),
        lambda: backward(s, inputs=(x, y), retain_graph=True),
        lambda: backward(t for t in (z * 2,)),
        lambda: s.backward(2.0),
        lambda: y.backward([1.0, 2.0]),
        lambda: y.backward(torch.ones(2, dtype=torch.complex64)),
        lambda: s.backward(inputs=x),
    ]
    for call in calls:
        yield told(call), x.grad, z.grad


@program
def gradients_come_in_batches(torch: Any) -> Iterator[Any]:
    def grad(*args: Any, **options: Any) -> Any:
        return torch.autograd.grad(*args, is_grads_batched=True, **options)

    x, w = torch.arange(4.0).view(2, 2).requires_grad_(), leaf(torch, 2.0)
    square = x * x
    batch = torch.arange(12.0).view(3, 2, 2)
    yield grad(square, x, batch, retain_graph=True)
    yield grad(square.sum(), x, torch.arange(3), retain_graph=True)
    yield grad([square, (square * w).sum()], [x, w], [batch, torch.arange(3.0)], retain_graph=True)
    yield grad(square, [x, w], batch, allow_unused=True, retain_graph=True)
    yield grad(square, [x, w], batch, materialize_grads=True, retain_graph=True)
    yield told(lambda: grad(square, [x, w], batch, retain_graph=True))
    yield told(lambda: grad([square, square], x, [batch, batch[:2]]))
    yield told(lambda: grad(square.sum(), x, torch.ones(())))
    yield told(lambda: grad(square, x, batch[:0]))
    yield told(lambda: grad(square, x, torch.ones(2, 2))).split("grad_output[0]")[0]
    edge = torch.autograd.graph.get_gradient_edge(square)
    (g,) = grad(edge, x, batch, create_graph=True)
    yield g.detach(), torch.autograd.grad(g.sum(), x)
    (g,) = grad(square, x, batch)
    yield g.requires_grad, told(lambda: grad(square, x, batch)).split(" (or")[0]


@program
def nodes_are_nodes_without_inheriting(torch: Any) -> Iterator[Any]:
    node = torch.autograd.graph.Node
    y = leaf(torch, 1.0) * 2
    yield isinstance(y.grad_fn, node), issubclass(type(y.grad_fn), node), node in type(y.grad_fn).mro()
    yield isinstance(None, node), isinstance(node, node), issubclass(node, node), issubclass(int, node)
    yield issubclass(torch.autograd.function.BackwardCFunction, node), told(node).split(" with")[0]


@program
def versions_are_counted_by_hand(torch: Any) -> Iterator[Any]:
    count = torch.autograd.graph.increment_version
    x = leaf(torch, 1.0, 2.0)
    y = x * x
    count([x, x])
    yield x._version, told(lambda: y.sum().backward()).split(": [")[0]
    yield told(lambda: count(3)), told(lambda: count([x, 3])), x._version


@program
def a_decorated_class_is_a_function_that_makes_its_objects(torch: Any) -> Iterator[Any]:
    @torch.no_grad()
    class Made:
        def __init__(self) -> None:
            self.enabled = torch.is_grad_enabled()

        def now(self) -> bool:
            return bool(torch.is_grad_enabled())

    yield Made().enabled, Made().now(), isinstance(Made, type)
    yield told(lambda: torch.set_grad_enabled("no")), told(lambda: torch.set_grad_enabled(1)), torch.is_grad_enabled()


@program
def slices_and_indices_that_do_not_fit(torch: Any) -> Iterator[Any]:
    def zeros() -> Any:
        return torch.zeros(2, 3)

    ones, first = torch.ones, torch.tensor([0])
    calls: list[Callable[[], Any]] = [
        lambda: zeros().index_copy_(0, first, ones(1)),
        lambda: zeros().index_copy(0, first, ones(1, 2)),
        lambda: zeros().index_copy(0, torch.tensor([0, 1]), ones(1, 3)),
        lambda: zeros().index_copy(0, torch.tensor([[0, 1]]), ones(2, 3)),
        lambda: zeros().index_copy(0, torch.tensor([5]), ones(1, 3)),
        lambda: zeros().index_copy(0, torch.tensor([0.0]), ones(1, 3)),
        lambda: zeros().index_copy(-1, first, ones(2)),
        lambda: zeros().index_copy(0, first, ones(1, 3).long()),
        lambda: zeros().index_copy(-2, first, ones(1, 3)).tolist(),
        lambda: zeros().index_add(0, first, ones(1)),
        lambda: zeros().index_add(0, first, ones(1, 2)),
        lambda: zeros().index_add(0, torch.tensor([0.0]), ones(1, 3)),
        lambda: zeros().index_add(0, first, ones(1, 3).long()),
        lambda: zeros().index_add(0, first.int(), ones(1, 3)).tolist(),
        lambda: zeros().index_fill(0, torch.tensor([[0]]), 1.0),
        lambda: zeros().index_fill(0, torch.tensor([0.0]), 1.0),
        lambda: zeros().put(torch.tensor([0, 1]), ones(1)),
    ]
    for call in calls:
        try:
            yield call()
        except (IndexError, RuntimeError) as error:
            yield type(error).__name__, str(error)


@program
def a_division_without_a_gradient_has_edges_to_what_requires_grad(torch: Any) -> Iterator[Any]:
    x = torch.tensor([3.0, 5.0], requires_grad=True)
    for y in (x // 2, x // x, 2 // x, x.floor_divide(torch.ones(2)), 2 % x, x % 2):
        yield y.grad_fn.name(), [(node.name(), number) for node, number in y.grad_fn.next_functions if node]
        yield len(y.grad_fn.next_functions)
        try:
            y.sum().backward()
        except RuntimeError as error:
            yield str(error)


@program
def scatter_adds_and_multiplies(torch: Any) -> Iterator[Any]:
    def ones() -> Any:
        return torch.ones(2, 3)

    index = torch.tensor([[0, 0, 1]])
    for reduce in ("add", "multiply", "max"):
        for value in (2.0, 2 * torch.ones(1, 3)):
            try:
                yield ones().scatter(0, index, value, reduce=reduce), ones().scatter_(0, index, value, reduce=reduce)
                (leaf(torch, 1.0, 2.0)[None] * 1).scatter(0, index[:, :2], value, reduce=reduce).sum().backward()
            except RuntimeError as error:
                yield str(error)


@program
def indices_and_bytes(torch: Any) -> Iterator[Any]:
    places = torch.tensor([[3], [-1], [7]])
    yield torch.unravel_index(places, (2, 3)), torch.unravel_index(places, 6), torch.unravel_index(torch.tensor(4), [2, 3])
    for wrong in (torch.ones(1), (2, 3)), (places, (2, -3)):
        try:
            torch.unravel_index(*wrong)
        except (TypeError, ValueError) as error:
            yield str(error)
    x = torch.zeros(2, 3)
    for view in (x, x[1:], x.t(), x[0].expand(4, 3), x.double()):
        storage = view.untyped_storage()
        yield len(storage), storage.size(), storage.nbytes(), storage.device.type, storage.data_ptr() == x.data_ptr()
    yield torch.arange(3, dtype=torch.uint8).untyped_storage().tolist()
