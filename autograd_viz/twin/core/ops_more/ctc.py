"""CTC loss: the negative log-probability that frames of symbols, without blanks and repeats, spell the target."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import names as op
from ..op import primitive, public
from ..ops.loss.loss import MEAN, SUM, reduction_number
from ..tensor import Tensor, refuse_if


def with_blanks(targets: Any, sample: int, lengths: Any, blank: int) -> Any:
    """The target of one sample, with a blank before, between and after its symbols."""
    start = sum(lengths[:sample]) if targets.ndim == 1 else 0
    row = (targets if targets.ndim == 1 else targets[sample])[start : start + lengths[sample]]
    states = np.full(2 * lengths[sample] + 1, blank, np.int64)
    states[1::2] = row
    return states


def log_path_sums(scores: Any, states: Any) -> Any:
    """For each frame and state, the log of the total probability of all paths from the start to it.

    From one frame to the next a path stays, moves on by one state, or skips a blank between two different symbols.
    """
    skips = np.zeros(len(states), bool)
    skips[2:] = states[2:] != states[:-2]
    sums = np.full((len(scores), len(states)), -np.inf, scores.dtype)
    sums[:1, :2] = scores[:1, states[:2]]
    for t in range(1, len(scores)):
        stay, on, skip = sums[t - 1], np.full_like(sums[t], -np.inf), np.full_like(sums[t], -np.inf)
        on[1:] = stay[:-1]
        skip[2:] = np.where(skips[2:], stay[:-2], -np.inf)
        sums[t] = np.logaddexp(np.logaddexp(stay, on), skip) + scores[t, states]
    return sums


@primitive("CtcLossBackward0", results=("neg_log_likelihood", "log_alpha"), nondifferentiable=("log_alpha",))
def ctc_loss_forward(log_probs, *, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    """The loss of each sample, and the path sums (forward variables) of each frame and state."""
    samples = log_probs.shape[1]
    losses = np.empty(samples, log_probs.dtype)
    alpha = np.full((samples, len(log_probs), 2 * max(target_lengths, default=0) + 1), -np.inf, log_probs.dtype)
    for n in range(samples):
        states = with_blanks(targets, n, target_lengths, blank)
        sums = log_path_sums(log_probs[: input_lengths[n], n], states)
        alpha[n, : len(sums), : len(states)] = sums
        ends = sums[-1, -2:] if len(sums) else np.array([0.0 if len(states) == 1 else -np.inf])
        losses[n] = -np.logaddexp.reduce(ends)
    return losses, alpha
ctc_loss_forward.defvjp(
    log_probs = lambda grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity:
        ctc_loss_backward(grad, log_probs, targets=targets, input_lengths=input_lengths, target_lengths=target_lengths,
                          neg_log_likelihood=result0, log_alpha=result1, blank=blank, zero_infinity=zero_infinity))


@primitive()
def ctc_loss_backward(
    grad, log_probs, *, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity
):
    """grad * (probability - share of the paths with this symbol in this frame), for log_probs from a log_softmax."""
    out = np.zeros_like(log_probs)
    for n in range(log_probs.shape[1]):
        frames, loss = input_lengths[n], neg_log_likelihood[n]
        if zero_infinity and np.isinf(loss):
            continue
        scores, states = log_probs[:frames, n], with_blanks(targets, n, target_lengths, blank)
        beta = log_path_sums(scores[::-1], states[::-1])[::-1, ::-1]
        through = log_alpha[n, :frames, : len(states)] + beta
        shares = np.full_like(scores, -np.inf)
        for s, symbol in enumerate(states):
            shares[:, symbol] = np.logaddexp(shares[:, symbol], through[:, s])
        out[:frames, n] = grad[n] * (np.exp(scores) - np.exp(shares + loss - scores))
    return out


def lengths_of(lengths: Any) -> tuple[int, ...]:
    """Lengths given as a tensor, a number or a list, as a tuple of ints."""
    array = lengths._data if isinstance(lengths, Tensor) else lengths
    return tuple(int(n) for n in np.reshape(array, -1))


def check_lengths(log_probs: Tensor, targets: Tensor, frames: tuple[int, ...], symbols: tuple[int, ...], blank: int) -> None:
    """Refuse lengths beyond the size of the tensors."""
    checked = "(while checking arguments for ctc_loss_allocate_outputs)"
    most, samples, classes = log_probs.shape
    refuse_if(not 0 <= blank < classes, "blank must be in label range")
    for name, lengths in (("input", frames), ("target", symbols)):
        if len(lengths) != samples:
            raise RuntimeError(f"{name}_lengths must be of size batch_size")
    if any(n > most for n in frames):
        raise RuntimeError(f"Expected input_lengths to have value at most {most}, but got value {max(frames)} {checked}")
    wanted, have = (sum(symbols), targets.shape[0]) if targets.ndim == 1 else (max(symbols, default=0), targets.shape[1])
    refuse_if(targets.ndim == 1 and wanted != have, lambda:
        f"Expected tensor to have size {wanted} at dimension 0, but got size {have} for argument #2 'targets' {checked}")
    refuse_if(wanted > have, lambda:
        f"Expected tensor to have size at least {wanted} at dimension 1, but got size {have} for argument #2 'targets' "
        f"{checked}")


@public("nn.functional.ctc_loss")
def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """Connectionist temporal classification; `log_probs` is (frames, samples, symbols) and comes from a log_softmax.

    Raises RuntimeError: lengths or sizes do not fit together.
    """
    number = reduction_number(reduction)
    batched = log_probs.ndim == 3
    log_probs = log_probs if batched else log_probs.unsqueeze(1)
    frames, symbols = lengths_of(input_lengths), lengths_of(target_lengths)
    check_lengths(log_probs, targets, frames, symbols, blank)
    options = {"input_lengths": frames, "target_lengths": symbols, "blank": blank, "zero_infinity": zero_infinity}
    losses = ctc_loss_forward(log_probs, targets=targets, **options)[0]
    if zero_infinity:
        losses = op.where(losses == float("inf"), Tensor(np.zeros((), losses._data.dtype)), losses)
    if number == MEAN:
        return (losses / Tensor(np.maximum(symbols, 1).astype(losses._data.dtype))).mean()
    if number == SUM:
        return losses.sum()
    return losses if batched else losses.squeeze(0)
