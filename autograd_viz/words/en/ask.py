"""English: what cannot be answered, and shards. CAUSE_X follows the first words, DO_X is the advice, MORE_X the details."""

CAUSE_NOT_RECORDED = "the ops that ran were not recorded."
DO_NOT_RECORDED = "Call av.watch() first, or run it again in {record}."
CAUSE_NOT_SHOWN = "what was recorded does not show why."
DO_NOT_SHOWN = "Compute the loss again and step it: av.step(loss) shows each gradient."
CAUSE_NO_LOSS_HERE = "no variable here holds a loss that was computed from it."
DO_NO_LOSS_HERE = "Keep the loss in a variable, or call av.watch() before the pass."
CAUSE_OFF_NOW = "requires_grad was switched off ({line}); its gradient is left over from an earlier pass."
DO_OFF_NOW = "Call {name}.requires_grad_() before the forward pass if it should learn."
CAUSE_SHARDED = "it is this rank's shard; FSDP averages the gradient over {ranks} ranks and stores this part here."
CAUSE_SHARDED_MISSING = "it is this rank's shard of {ranks}; no backward() of the whole parameter has run."
CAUSE_ALL_FINE = "Nothing stands out ({count} looked at)."
CAUSE_LOSS_FINE = "Nothing stands out on the way to this loss ({count} looked at). It is not a leaf, so its own grad is None."
CAUSE_LOSS_FINE_UNSEEN = (
    "Nothing stands out on the way to this loss ({count} looked at). Most checks need what av.watch() records."
)
DO_LOSS_FINE_UNSEEN = DO_ALL_FINE_UNSEEN = "Call it before the loop, and ask again after it."
CAUSE_ALL_FINE_UNSEEN = "Nothing stands out ({count} looked at). Most checks need what av.watch() records."
