"""The core beside PyTorch: random programs, printing, errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import autograd_viz as av
from autograd_viz.twin.core.backward.backward import start

from ..effort import examples
from ..programs import Program, programs
from .stepwise import steps_of

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def loss_of(module: Any, pool: list[Any]) -> Any:
    """One number that depends on everything."""
    total = module.zeros((), dtype=module.float64)
    for t in pool:
        total = total + (t * 0.5).sum()
    return total


def shape_of_graph(node: Any) -> list[Any]:
    """Names, edges with indices and saved values of a backward graph, nodes numbered as met."""
    numbers: dict[Any, int] = {}
    described, queue = [], [node]
    numbers[node] = 0
    while queue:
        n = queue.pop(0)
        edges = []
        for after, index in n.next_functions:
            if after is not None and after not in numbers:
                numbers[after] = len(numbers)
                queue.append(after)
            edges.append((None if after is None else numbers[after], index))
        saved = {a: plain(getattr(n, a)) for a in sorted(dir(n)) if a.startswith("_saved_") and "strides" not in a}
        if n.name().startswith("Mm"):  # PyTorch saves sizes and strides of matrices, which it then does not use
            saved = {k: v for k, v in saved.items() if "sym" not in k}
        described.append((n.name().rpartition("::")[2], edges, saved))
    return described


def plain(value: Any) -> Any:
    return value.detach().double().numpy() if hasattr(value, "detach") else value


def same_graph(mine: list[Any], theirs: list[Any]) -> bool:
    """Names, edges and names of saved values equal; saved values close."""
    if [(name, edges, sorted(saved)) for name, edges, saved in mine] != [(n, e, sorted(s)) for n, e, s in theirs]:
        return False
    pairs = [(saved[k], other[k]) for (_, _, saved), (_, _, other) in zip(mine, theirs, strict=True) for k in saved]
    return all((a is None) == (b is None) and (a is None or close(a, b)) for a, b in pairs)


def is_tame(pool: list[Any]) -> bool:
    """No value so large that rounding in exp or sin would be all that is compared."""
    return all(bool((t.detach().abs() < 1e3).all()) for t in pool)


def backward_order(root: Any) -> list[str]:
    """Node names in the order in which torch's own engine calls them."""
    order: list[str] = []
    seen, stack = set(), [root.grad_fn]
    while stack:
        n = stack.pop()
        if n is not None and n not in seen:
            seen.add(n)
            n.register_prehook(lambda g, n=n: order.append(n.name().rpartition("::")[2]))
            stack += [after for after, _ in n.next_functions]
    root.backward()
    return order


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(np.asarray(a), np.asarray(b), rtol=1e-9, atol=1e-12, equal_nan=True))


@given(programs())
@settings(max_examples=examples(100))
def test_random_programs_agree(program: Program) -> None:
    """Values, graph, order of execution and gradients."""
    leaves, pool = program.run(av)
    torch_leaves, torch_pool = program.run(torch)
    assume(is_tame(torch_pool))
    for mine, theirs in zip(pool, torch_pool, strict=True):
        assert close(mine.detach().numpy(), theirs.detach().numpy())
        assert (mine.requires_grad, mine.is_leaf, mine.output_nr) == (theirs.requires_grad, theirs.is_leaf, theirs.output_nr)
    loss, torch_loss = loss_of(av, pool), loss_of(torch, torch_pool)
    assert same_graph(shape_of_graph(loss.grad_fn), shape_of_graph(torch_loss.grad_fn))
    mine_order = [type(s.node).__name__ for s in steps_of(start(loss, None, None, False))]
    assert mine_order == backward_order(torch_loss)
    for mine, theirs in zip(leaves, torch_leaves, strict=True):
        assert (mine.grad is None) == (theirs.grad is None)
        if mine.grad is not None:
            assert close(mine.grad.numpy(), theirs.grad.numpy())


@given(programs(12))
@settings(max_examples=examples(40))
def test_second_derivatives_agree(program: Program) -> None:
    results = []
    for module in (av, torch):
        leaves, pool = program.run(module)
        assume(module is av or is_tame(pool))
        wanted = [x for x in leaves if x.requires_grad]
        loss = loss_of(module, pool)
        grads = module.autograd.grad(loss, wanted, create_graph=True, allow_unused=True)
        total = module.zeros((), dtype=module.float64)
        for g in grads:
            total = total + (g * g).sum() if g is not None else total
        second = module.autograd.grad(total, wanted, allow_unused=True) if total.requires_grad else ()
        results.append([None if g is None else (g + 0).tolist() for g in second])
    for mine, theirs in zip(*results, strict=True):
        zero_or_none = mine is None or theirs is None
        assert close(0 if mine is None else mine, 0 if theirs is None else theirs) if zero_or_none else close(mine, theirs)


numbers = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, 2.0, 1e-5, 12345.678, 1e9, float("nan"), float("inf")])


@given(
    st.lists(numbers, max_size=30)
    | st.lists(st.builds(complex, numbers, numbers), max_size=30)
    | st.lists(st.integers(-(10**6), 10**6), max_size=30)
    | st.lists(st.booleans(), max_size=9)
)
@settings(max_examples=examples(300))
def test_tensors_print_as_pytorch_prints_them(values: list[Any]) -> None:
    assert str(av.tensor(values)) == str(torch.tensor(values))
    if len(values) % 2 == 0 and values:
        shape = (2, len(values) // 2)
        assert str(av.tensor(values).reshape(shape)) == str(torch.tensor(values).reshape(shape))


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m.tensor(2.0, requires_grad=True),
        lambda m: m.tensor([1.5, 2.0], dtype=m.float64),
        lambda m: m.zeros(2, 3, 2),
        lambda m: m.arange(2000),
        lambda m: m.ones(40, 40),
        lambda m: m.tensor([[1.0, 2.0]], requires_grad=True) * 2,
        lambda m: m.arange(30).float() * 1000.5,
        lambda m: m.zeros(0),
        lambda m: m.zeros(0, dtype=m.complex64),
        lambda m: m.tensor(3 - 1.5j, dtype=m.complex128, requires_grad=True) * 1j,
        lambda m: m.ones(40, 40, dtype=m.complex64),
        lambda m: m.zeros(2, 0),
        lambda m: m.ones(12, requires_grad=True).exp(),
        lambda m: m.tensor([0.0005, 0.002]),
        lambda m: m.tensor([5e-5, 0.01]),
        lambda m: m.zeros(0, 3, dtype=m.int64),
        lambda m: m.tensor([[2.0, -1.5, -1.5]], dtype=m.float64, requires_grad=True).t() * 1,
        lambda m: m.arange(9, dtype=m.float64).reshape(1, 9).requires_grad_() * 1.25,
    ]
    + [lambda m, n=n: m.ones(n, dtype=m.float64, requires_grad=True) * 1 for n in range(6, 14)],
)
def test_whole_tensors_print_as_pytorch_prints_them(make: Any) -> None:
    assert str(make(av)) == str(make(torch))


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m.ones(2, 3, 4, requires_grad=True).permute(2, 0, -2),
        lambda m: m.tensor([2.0, 3.0], requires_grad=True).sum(dim=[]),
        lambda m: m.tensor(3.0, requires_grad=True).sum(0) + m.tensor(3.0, requires_grad=True).mean(0),
        lambda m: m.where(m.tensor([True, False]), m.ones(2, requires_grad=True), 0.5),
        lambda m: 0.5 - m.arange(3),
        lambda m: 2.0 ** m.arange(3),
        lambda m: m.arange(3) ** 0.5,
        lambda m: m.relu(m.tensor([float("nan"), 1.0], requires_grad=True)),
        lambda m: m.tensor([float("nan"), -2.0, 0.0], requires_grad=True).abs(),
        lambda m: m.ones(2, requires_grad=True).long(),
        lambda m: m.ones(2, requires_grad=True).detach().add_(1),
        lambda m: m.tensor([0.0, 2.0], requires_grad=True) ** m.tensor([-1.0, 2.0], requires_grad=True),
        lambda m: m.tensor(2.0, requires_grad=True).squeeze(0),
        lambda m: m.tensor(2.0, requires_grad=True).transpose(0, -1),
    ],
)
def test_values_types_and_histories_agree(make: Any) -> None:
    """Cases that once differed: the result, its type, its history, and the gradient of its sum."""
    shown = []
    for m in (av, torch):
        made: list[str] = []
        r = make(m)
        about = (str(r.detach()), str(r.dtype), r.requires_grad, r.grad_fn and r.grad_fn.name())
        if r.requires_grad:
            found = {id(n.variable): n.variable for n in nodes_of(r.grad_fn) if hasattr(n, "variable")}
            r.sum().backward()
            made = sorted(str(v.grad) for v in found.values())
        shown.append((about, made))
    assert shown[0] == shown[1]


def nodes_of(root: Any) -> list[Any]:
    seen, stack = [], [root]
    while stack:
        n = stack.pop()
        if n is not None and not any(n is s for s in seen):
            seen.append(n)
            stack += [after for after, _ in n.next_functions]
    return seen


@pytest.mark.parametrize(
    "act",
    [
        lambda m: m.ones(2, 3).permute(0, 0),
        lambda m: setattr(m.ones(2), "grad", m.ones(2, dtype=m.float64)),
        lambda m: m.ones(2) @ 3,
        lambda m: m.where(m.ones(2), m.ones(2), 0.0),
        lambda m: m.ones(2, 2).sum(dim=(0, 0)),
        lambda m: m.ones(1).expand(3).add_(1),
        lambda m: m.stack([m.ones(2), m.ones(3)]),
        lambda m: m.stack([]),
        lambda m: m.ones(4).view(-2, -2),
        lambda m: m.ones(4).view(-1, -1),
    ],
)
def test_refusals_have_pytorchs_type(act: Any) -> None:
    kinds = []
    for m in (av, torch):
        with pytest.raises(Exception) as info:
            act(m)
        kinds.append(info.type.__name__)
    assert kinds[0] == kinds[1]


def test_comparing_with_none_is_false() -> None:
    for m in (av, torch):
        assert (m.ones(2) == None) is False and (m.ones(2) != None) is True  # noqa: E711


@pytest.mark.parametrize("left", ["int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("right", ["int64", "float32", "float64", "complex64", "complex128", 2, 2.5, True, 1j])
@pytest.mark.parametrize("shapes", [((2,), (2,)), ((), (2,)), ((2,), ()), ((), ())])
@pytest.mark.parametrize("op", ["add", "mul", "div", "gt"])
def test_types_mix_as_in_pytorch(left: str, right: Any, shapes: Any, op: str) -> None:
    if op == "gt" and "complex" in str(right) + type(right).__name__:
        op = "add"  # complex numbers have no order
    kinds = []
    for m in (av, torch):
        a = m.ones(shapes[0], dtype=getattr(m, left))
        b = m.ones(shapes[1], dtype=getattr(m, right)) if isinstance(right, str) else right
        kinds.append(str(getattr(m, op)(a, b).dtype) if op != "gt" else str((a > b).dtype))
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("left", ["bool", "int64", "float32"])
@pytest.mark.parametrize("right", ["bool", "int64", "float32", True, 1, 1.5])
@pytest.mark.parametrize("op", [lambda a, b: a - b, lambda a, b: b - a, lambda a, b: a.sub_(b)], ids=["-", "r-", "sub_"])
def test_a_difference_with_a_bool_is_refused_in_pytorchs_words(left: str, right: Any, op: Any) -> None:
    def of(library: Any) -> str:
        a = library.tensor([1, 0], dtype=getattr(library, left))
        b = library.tensor([1, 1], dtype=getattr(library, right)) if isinstance(right, str) else right
        try:
            return str(op(a, b))
        except RuntimeError as error:
            return str(error)

    assert of(av) == of(torch)


@pytest.mark.parametrize("kind", ["int64", "float32", "float64", "complex64"])
def test_a_complex_power_has_pytorchs_type(kind: str) -> None:
    mine, theirs = ((m.ones(2, dtype=getattr(m, kind)) + 1) ** 2j for m in (av, torch))
    assert str(mine.dtype) == str(theirs.dtype) and np.allclose(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize(
    "act",
    [
        lambda m: m.tensor([1.0, 2.0], requires_grad=True).backward(),
        lambda m: m.tensor(1.0).backward(),
        lambda m: (m.ones(2, requires_grad=True) * 2).backward(m.ones(3)),
        lambda m: m.ones(2, requires_grad=True).add_(1),
        lambda m: m.ones(2, requires_grad=True).view(2).add_(1),
        lambda m: m.ones(2, dtype=m.int64, requires_grad=True),
        lambda m: (m.ones(2, requires_grad=True) * 2).requires_grad_(False),
        lambda m: m.ones(2).retain_grad(),
        lambda m: m.ones(2, 3).view(4),
        lambda m: m.ones(2, requires_grad=True).numpy(),
        lambda m: m.ones(2).item(),
        lambda m: bool(m.ones(2)),
        lambda m: m.ones(2, 3) @ m.ones(2, 3),
        lambda m: len(m.tensor(1.0)),
        lambda m: m.autograd.grad(m.ones(2, requires_grad=True).sum(), m.ones(2, requires_grad=True)),
        lambda m: m.autograd.grad(m.ones(2, requires_grad=True).sum(), m.ones(2)),
        lambda m: m.arange(3).add_(1.5),
        lambda m: setattr(m.ones(2), "grad", m.ones(3)),
        lambda m: setattr(m.ones(2), "grad", 3),
        lambda m: m.ones(2)[5],
        lambda m: m.mul(m.ones(2), "a"),
        lambda m: m.ones(2) + m.ones(3),
        lambda m: m.ones(2, 2, 2).t(),
        lambda m: m.ones(3).mean(dim=4),
        lambda m: m.ones(2).expand(3),
        lambda m: m.arange(2).mean(),
        lambda m: m.ones(2, 2) @ m.ones(3),
        lambda m: m.ones(2) @ m.ones(3),
        lambda m: m.ones(2) @ m.tensor(1.0),
        lambda m: m.ones(2).unbind(3),
        lambda m: m.tensor(1.0).unbind(),
    ],
)
def test_errors_have_pytorchs_type_and_first_words(act: Any) -> None:
    raised = []
    for m in (av, torch):
        with pytest.raises(Exception) as info:
            act(m)
        raised.append((info.type.__name__, str(info.value).split(".")[0].split("\n")[0][:60]))
    assert raised[0] == raised[1]


def test_every_attribute_of_pytorchs_tensors_is_there_or_says_that_it_is_not() -> None:
    x = av.ones(2, 2)
    for name in (n for n in dir(torch.Tensor) if not n.startswith("_")):
        if name not in dir(x):
            with pytest.raises(AttributeError, match=rf"^'Tensor' object has no attribute '{name}': autograd_viz has no torch"):
                getattr(x, name)
            assert not hasattr(x, name)


@pytest.mark.parametrize(("name", "said"), [("sparse", "all tensors are dense"), ("einsumm", "did you mean einsum or")])
def test_what_is_missing_has_an_alternative_or_a_name_that_is_near(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(f"autograd_viz has no torch.{name}; {said}")):
        getattr(av, name)


def test_each_in_place_method_is_one_of_pytorch() -> None:
    names = [name for name in dir(av.Tensor) if name.endswith("_") and not name.endswith("__")]
    assert len(names) > 100
    assert [name for name in names if not hasattr(torch.Tensor, name)] == []


def test_an_attribute_of_a_tensor_costs_no_call() -> None:
    assert not any("__getattr__" in vars(kind) or "__getattribute__" in vars(kind) for kind in av.Tensor.__mro__[:-1])


COMPLEX: list[Callable[..., Any]] = [
    lambda m, a, b, v: a @ b,
    lambda m, a, b, v: a @ v,
    lambda m, a, b, v: m.outer(v, v),
    lambda m, a, b, v: m.vdot(v, v * 2j),
    lambda m, a, b, v: m.dot(v, v * 2j),
    lambda m, a, b, v: m.bmm(a[None], b[None]),
    lambda m, a, b, v: m.addmm(a, a, b, beta=2j, alpha=1 - 1j),
    lambda m, a, b, v: m.addmv(v, a, v),
    lambda m, a, b, v: m.addr(a, v, v),
    lambda m, a, b, v: m.baddbmm(a[None], a[None], b[None]),
    lambda m, a, b, v: m.addbmm(a, a[None], b[None]),
    lambda m, a, b, v: m.nn.functional.linear(a, b, v),
    lambda m, a, b, v: m.einsum("ij,jk->ik", a, b),
    lambda m, a, b, v: m.linalg.multi_dot([a, b, a]),
    lambda m, a, b, v: m.linalg.matrix_power(a, 3),
    lambda m, a, b, v: v.log10() + v.log2() + v.asinh() + v.atanh() + v.acos() + v.asin() + v.atan() + v.sinc(),
    lambda m, a, b, v: a.logsumexp(0),
    lambda m, a, b, v: a.prod(),
    lambda m, a, b, v: a.prod(1) + a.cumprod(0)[0],
]


@pytest.mark.parametrize("make", COMPLEX)
def test_gradients_of_complex_numbers_are_pytorchs(make: Callable[..., Any]) -> None:
    random = np.random.default_rng(3)
    values = [(random.normal(size=s) + 1j * random.normal(size=s)).tolist() for s in ((2, 2), (2, 2), (2,))]
    grads = []
    for m in (av, torch):
        leaves = [m.tensor(x, dtype=m.complex128, requires_grad=True) for x in values]
        made = make(m, *leaves)
        (made.abs() * 1.3 + made.real).sum().backward()
        grads.append([None if x.grad is None else np.array(x.grad.tolist()) for x in leaves])
    for mine, theirs in zip(*grads, strict=True):
        assert (mine is None) == (theirs is None)
        assert mine is None or np.allclose(mine, theirs)
