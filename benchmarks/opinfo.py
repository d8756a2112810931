"""Parity with PyTorch's own catalogue of ops: values, gradients and backward graphs, sample by sample.

    python -m benchmarks.opinfo                 every variant, and what fails where
    python -m benchmarks.opinfo -k linalg       only those with this in their name
    python -m benchmarks.opinfo -v              with the first failure of each in full
    python -m benchmarks.opinfo -d complex128   of complex numbers

A variant is whole if for each of its samples the values, the first and second gradients under random cotangents, the names,
arity and edges of the backward graph and the names of what its nodes save are PyTorch's (`OTHER_GRAPHS` lists exceptions).
"""

from __future__ import annotations

import argparse
import collections
import random
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from autograd_viz import twin as av

MOST_SAMPLES = 60  # of a variant; some have hundreds that differ in one option
SAMPLE_SEED = 1234  # PyTorch's own before each sample
SEED = 42  # the one that OpInfo's own wrappers use
OTHER_GRAPHS = ("conv", "cov", "corrcoef")  # of complex numbers: PyTorch goes by real and imaginary parts
# PyTorch fails to differentiate these twice; the last takes 8 s for what grid_sampler_2d checks
ONCE = ("native_layer_norm", "scaled_dot_product_attention", "ctc_loss", "grid_sampler_3d")
RANDOM = ("dropout", "normal", "bernoulli", "rrelu", "_lowrank", "fractional_max_pool")  # values are drawn, not computed


class Outcome(NamedTuple):
    """How one variant fared: "whole", "absent", "failed" or "skipped" (PyTorch itself refuses), and why."""

    name: str
    status: str
    detail: str = ""


def variants(dtype: Any = torch.float64) -> Iterator[Any]:
    """The variants that are differentiable on the CPU for tensors of a dtype."""
    for op in op_db:
        if op.supports_autograd and dtype in op.supported_backward_dtypes("cpu") and dtype in op.dtypes:
            yield op


def name_of(op: Any) -> str:
    """The op's name with its variant."""
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def ours(op: Any) -> Callable[..., Any] | None:
    """The same callable over autograd_viz, or None if the core does not know the name."""
    function = op.op
    if isinstance(function, types.FunctionType) and (function.__module__ or "").startswith("torch.testing"):
        return over_ours(function)
    for start, path in ((av, op.name), (av.Tensor, op.name), (av, op.name.replace("ops.aten.", ""))):
        target: Any = start
        for part in path.removeprefix("torch.").split("."):
            target = getattr(target, part, None)
        if target is not None and not isinstance(target, av.dtype):
            return method(op.name) if start is av.Tensor else target
    return None


def over_ours(function: Any) -> Callable[..., Any]:
    """A Python function of PyTorch's tests, with `torch` meaning autograd_viz."""
    names = {**function.__globals__, "torch": av, "F": av.nn.functional}
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def method(name: str) -> Callable[..., Any]:
    """A call of a method or property by name, as OpInfo writes those."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        attribute = getattr(x, name)
        return attribute(*args, **kwargs) if callable(attribute) else attribute

    return call


def translated(value: Any, twins: dict[int, Any]) -> Any:
    """An argument of PyTorch's as one of ours; the same tensor stays the same tensor."""
    if isinstance(value, torch.Tensor):
        if id(value) not in twins:
            twin = av.from_numpy(value.detach().resolve_conj().numpy())
            twins[id(value)] = (twin.requires_grad_(value.requires_grad), value)
        return twins[id(value)][0]
    if isinstance(value, torch.dtype):
        return getattr(av, str(value).removeprefix("torch."))
    if isinstance(value, list | tuple):
        made = [translated(v, twins) for v in value]
        kind = tuple if isinstance(value, torch.Size) else type(value)
        return kind(*made) if hasattr(value, "_fields") else kind(made)
    if isinstance(value, dict):
        return {k: translated(v, twins) for k, v in value.items()}
    if callable(value) and (getattr(value, "__module__", None) or "").startswith("torch"):
        name = getattr(value, "__name__", None)
        return getattr(av.nn, type(value).__name__)() if name is None else getattr(av.nn.functional, name)
    return value


def tensors(value: Any, kind: type) -> list[Any]:
    """All tensors in nested results."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in tensors(v, kind)] if isinstance(value, list | tuple) else []


def graph(outputs: list[Any], leaves: list[Any]) -> list[Any]:
    """The backward graph as text, nodes numbered as a walk from the outputs meets them."""
    positions: dict[Any, int] = {}
    order: list[Any] = []

    def number(node: Any) -> Any:
        if node is None:
            return None
        if node not in positions:
            positions[node] = len(order)
            order.append(node)
        return positions[node]

    lines: list[Any] = [(number(t.grad_fn), t.output_nr) for t in outputs]
    k = 0
    while k < len(order):
        node = order[k]
        k += 1
        name = node.name()
        if name.endswith("AccumulateGrad"):
            lines.append((name, next((i for i, leaf in enumerate(leaves) if leaf is node.variable), None)))
            continue
        saved = sorted(a.removeprefix("_saved_") for a in dir(node) if a.startswith("_saved_"))
        lines.append((name, [(number(n), i if n is not None else 0) for n, i in node.next_functions], saved))
    return lines


def compare(op: Any, function: Callable[..., Any], sample: Any) -> str:
    """The first difference on one sample, or an empty text."""
    seed_all(SEED)
    expected = op(sample.input, *sample.args, **sample.kwargs)
    expected = sample.output_process_fn_grad(expected)
    theirs = tensors(expected, torch.Tensor)
    twins: dict[int, Any] = {}
    args = translated((sample.input, *sample.args), twins)
    kwargs = translated(sample.kwargs, twins)
    av.manual_seed(SEED)
    mine = tensors(over_ours(sample.output_process_fn_grad)(function(*args, **kwargs)), av.Tensor)
    if len(mine) != len(theirs):
        return f"results: {len(mine)} for {len(theirs)}"
    drawn = any(r in op.name for r in RANDOM)
    twice = op.supports_gradgrad and not any(name in op.name for name in ONCE)
    for i, (m, t) in enumerate(zip(mine, theirs, strict=True)):
        if tuple(m.shape) != tuple(t.shape) or str(m.dtype) != str(t.dtype):
            return f"result {i}: {tuple(m.shape)} {m.dtype} for {tuple(t.shape)} {t.dtype}"
        if not drawn and not close(m, t):
            return f"result {i}: values {m.detach().numpy().reshape(-1)[:4]} for {t.detach().reshape(-1)[:4].numpy()}"
    pairs = [p for p in twins.values() if p[1].requires_grad]
    if mine and mine[0].is_complex() and any(name in op.name for name in OTHER_GRAPHS):
        return gradients(mine, theirs, pairs, twice)
    graphs = graph(mine, [p[0] for p in pairs]), graph(theirs, [p[1] for p in pairs])
    if graphs[0] != graphs[1]:
        line = next((i for i, (a, b) in enumerate(zip(*graphs, strict=False)) if a != b), min(map(len, graphs)))
        return f"graph line {line}: {graphs[0][line : line + 2]} for {graphs[1][line : line + 2]}"
    return "" if drawn else gradients(mine, theirs, pairs, twice)


def gradients(mine: list[Any], theirs: list[Any], pairs: list[Any], twice: bool) -> str:
    """The first difference of the gradients under one random cotangent, then of those of the gradients, if `twice`."""
    roots = [(m, t) for m, t in zip(mine, theirs, strict=True) if t is not None and t.requires_grad]
    if not roots or not pairs:
        return ""
    cotangents = [torch.randn_like(t).requires_grad_(twice) for _, t in roots]
    seeds = [av.from_numpy(c.detach().numpy()).requires_grad_(twice) for c in cotangents]
    (ours, outputs), (leaves, inputs) = zip(*roots, strict=True), zip(*pairs, strict=True)
    want = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True, create_graph=twice)
    got = av.autograd.grad(ours, leaves, seeds, allow_unused=True, retain_graph=True)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        if difference := unequal(g, w):
            return f"gradient {i}: {difference}"
    if not twice:
        return ""
    again = av.autograd.grad(ours, leaves, seeds, allow_unused=True, create_graph=True)
    of_gradients = gradients(again, want, [*pairs, *zip(seeds, cotangents, strict=True)], False)
    return of_gradients and f"second {of_gradients}"


def unequal(mine: Any, theirs: Any) -> str:
    """How two gradients differ. None is as good as zeros."""
    if mine is None and theirs is None:
        return ""
    mine, theirs = av.zeros(theirs.shape) if mine is None else mine, torch.zeros(mine.shape) if theirs is None else theirs
    if tuple(mine.shape) != tuple(theirs.shape) or not close(mine, theirs):
        return f"{mine.detach().numpy().reshape(-1)[:4]} for {(theirs.detach().resolve_conj() + 0).reshape(-1)[:4].numpy()}"
    return ""


def close(mine: Any, theirs: Any) -> bool:
    """Equal within rounding, nan and infinities included."""
    a, b = mine.detach().numpy(), (theirs.detach().resolve_conj() + 0).numpy()
    tolerance = 2e-2 if b.dtype == np.float16 else 1e-4 if b.dtype == np.float32 else 1e-7
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))


def samples_of(op: Any, dtype: Any) -> Iterator[Any]:
    """What ``op.sample_inputs`` gives, without looking through the stack for the name of a test, as that does at length."""
    made = iter(op.sample_inputs_func(op, "cpu", dtype, True))
    while True:
        seed_all(SAMPLE_SEED)
        try:
            yield next(made)
        except StopIteration:
            return


def seed_all(seed: int) -> None:
    """As ``torch.manual_seed`` on the CPU, without the accelerators, whose turn would be noted with the whole stack."""
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def run(op: Any, seed: int = 0, most: int = MOST_SAMPLES, dtype: Any = torch.float64) -> Outcome:
    """All samples of a variant, at most `most` of them, drawn."""
    name = name_of(op)
    function = ours(op)
    if function is None:
        return Outcome(name, "absent")
    samples = list(samples_of(op, dtype))
    if len(samples) > most:
        samples = random.Random(seed).sample(samples, most)
    for k, sample in enumerate(samples):
        try:
            difference = compare(op, function, sample)
        except (NotImplementedError, AttributeError) as error:
            return Outcome(name, "absent" if k == 0 else "failed", f"sample {k}: {type(error).__name__}: {error}")
        except Exception as error:
            difference = f"{type(error).__name__}: {error}"
        if difference:
            return Outcome(name, "failed", f"sample {k}: {difference}")
    return Outcome(name, "whole")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("-k", default="", help="only variants with one of these (comma separated) in their name")
    parser.add_argument("-v", action="store_true", help="failures in full")
    parser.add_argument("-d", default="float64", help="dtype of the samples")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = chosen.k.split(",")
    dtype = getattr(torch, chosen.d)
    outcomes = [run(op, dtype=dtype) for op in variants(dtype) if any(w in name_of(op) for w in wanted)]
    for o in outcomes:
        if o.status != "whole":
            print(f"{o.status:7} {o.name}: {o.detail if chosen.v else o.detail[:150]}")
    counts = collections.Counter(o.status for o in outcomes)
    print(", ".join(f"{n} {status}" for status, n in counts.most_common()), f"of {len(outcomes)} variants")


if __name__ == "__main__":
    main()
