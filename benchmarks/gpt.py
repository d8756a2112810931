"""One small GPT on a GPU, else on the CPU: watching it, its memory and time as they are told and as they are, compiled code.

    python -m benchmarks.gpt        some two minutes on a GPU; a smaller model on a CPU

Watching: seconds of a step under `av.watch(model)`, divided by those of the plain step.
Memory: `peak` as `av.memory(loss)` tells it, divided by what the allocator gave; the same for a plan of three quarters of that.
Time: the passes of `av.time(f)` whose parts are timed, divided by the plain ones; the sum of the parts, divided by the pass.
Stepped: gradients that are those of `loss.backward()` to the bit, after a step back and forwards again.
Compiled: nodes that inductor's region opens into, and the largest difference of an interpreted gradient from the compiled one.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the same bits at every run

import torch
import torch._functorch.config
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing

import autograd_viz as av

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LAYERS, WIDTH, BATCH, CONTEXT, WORDS = (12, 768, 8, 512, 50257) if DEVICE == "cuda" else (3, 64, 2, 64, 512)
STEPS, ROUNDS = 16, 5


class GPT(nn.Module):
    """Embeddings, causal blocks, a head."""

    def __init__(self) -> None:
        super().__init__()
        block = [nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True)
                 for _ in range(LAYERS)]  # fmt: skip
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks, self.head = nn.ModuleList(block), nn.Linear(WIDTH, WORDS)

    def forward(self, ids: Any) -> Any:
        """Logits of each next word."""
        h = self.words(ids) + self.places.weight
        mask = nn.Transformer.generate_square_subsequent_mask(CONTEXT, device=ids.device)
        for block in self.blocks:
            h = block(h, mask, is_causal=True)
        return self.head(h)


def made() -> tuple[nn.Module, Callable[[], Any]]:
    """A model, and a function that gives its loss."""
    torch.manual_seed(0)
    model = GPT().to(DEVICE)
    ids = torch.randint(WORDS, (BATCH, CONTEXT + 1), device=DEVICE)
    return model, lambda: nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def wait() -> None:
    """Until the device has done all."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def seconds(model: nn.Module, loss_of: Callable[[], Any], optimizer: Any) -> float:
    """Of a step."""
    wait()
    began = time.perf_counter()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of().backward()
        optimizer.step()
    wait()
    return (time.perf_counter() - began) / STEPS


def watched() -> str:
    model, loss_of = made()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    seconds(model, loss_of, optimizer)
    plain = min(seconds(model, loss_of, optimizer) for _ in range(ROUNDS))
    with av.watch(model):
        seconds(model, loss_of, optimizer)  # it has weighed its own cost by then
        ours = min(seconds(model, loss_of, optimizer) for _ in range(ROUNDS))
    return f"{plain * 1e3:.2f} ms a step, watched {ours / plain:.3f} x"


def highest(run: Callable[[], Any]) -> int:
    """Bytes that the allocator gave at the highest moment of a program, beyond those before it."""
    if DEVICE == "cuda":
        wait()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        return torch.cuda.max_memory_allocated() - before
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    events = profile.profiler.kineto_results.events()
    return max(itertools.accumulate(e.nbytes() for e in events if e.name() == "[memory]"))


def memory() -> str:
    model, loss_of = made()

    def step() -> None:
        loss_of().backward()
        model.zero_grad()

    step()  # the libraries' own workspaces are there from now on
    real = highest(step)
    with av.record(model):
        loss = loss_of()
    told = av.memory(loss)
    stays = told.total - told.peak
    tight = av.memory(loss, budget=stays + told.peak * 3 // 4)
    del loss
    chosen = [model.get_submodule(".".join(path)) for path in tight.plan.paths]
    apply_activation_checkpointing(model, check_fn=lambda part: part in chosen)
    step()
    planned, checked = tight.plan.peak - stays, highest(step)
    first = f"told ÷ real {told.peak / real:.3f} of {real / 2**20:.1f} MiB"
    return f"{first}; with {len(chosen)} checkpoints {planned / checked:.3f} of {checked / 2**20:.1f} MiB"


def timed() -> str:
    _, loss_of = made()
    found = av.time(loss_of)
    passes = found.report.everything()["passes"]
    whole, parted, parts = (sum(min(half[kind]) for half in passes.values()) for kind in ("whole", "parted", "parts"))
    return f"{whole * 1e3:.2f} ms, timed {parted / whole:.3f} x, parts {parts / whole:.3f} of the pass"


def stepped() -> str:
    torch.use_deterministic_algorithms(True, warn_only=True)
    (theirs, loss_of), (ours, our_loss) = made(), made()
    loss_of().backward()
    stepper = av.step(our_loss()).stepper
    stepper.finish()
    stepper.goto(3)
    stepper.finish()
    torch.use_deterministic_algorithms(False)
    same = [torch.equal(a.grad, b.grad) for a, b in zip(theirs.parameters(), ours.parameters(), strict=True)]
    return f"{sum(same)}/{len(same)} gradients the same to the bit"


def compiled() -> str:
    torch._functorch.config.enable_autograd_cache = False  # what comes from the cache stays one node
    model, loss_of = made()
    model.compile(backend="inductor")
    stepper = av.step(loss_of()).stepper
    stepper.finish()
    opened = sum(op.reason == "opened" for op in stepper.document.ops)
    gaps = [s.interpreted for s in stepper.recorded if s.interpreted is not None and s.interpreted >= 0]
    stepped = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    loss_of().backward()
    same = sum(torch.equal(a, p.grad) for a, p in zip(stepped, model.parameters(), strict=True))
    return (
        f"{opened} ops opened, largest difference {max(gaps, default=0.0):.1e}, {same}/{len(stepped)} grads the same to the bit"
    )


def main() -> None:
    """Print a line for each."""
    if DEVICE == "cpu":
        torch.set_num_threads(1)
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
    print(f"{name}, PyTorch {torch.__version__}: {LAYERS} layers, width {WIDTH}, {BATCH} x {CONTEXT} tokens")
    for part in (watched, memory, timed, stepped, compiled):
        began = time.perf_counter()
        print(f"{part.__name__:10} {part()}  ({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
