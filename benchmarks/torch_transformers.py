"""Stepped passes of the models of `transformers`, with random weights, against `loss.backward()`: order, bits, time.

python -m benchmarks.torch_transformers            # all of them
python -m benchmarks.torch_transformers GPT2 T5    # some

Needs `transformers`; nothing is downloaded.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import torch
import transformers as hf

from autograd_viz.sources.pytorch.reading.graph import TorchGraph
from autograd_viz.sources.pytorch.reading.nodes import reach
from autograd_viz.sources.pytorch.recording.record import Recorder
from autograd_viz.sources.pytorch.stepping.node_pass import TorchPass
from autograd_viz.stepper import Stepper

IDS = torch.tensor([[5, 3, 8, 2, 9, 4], [7, 1, 6, 2, 2, 3]])
COMMON = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
WORDS = {**COMMON, "vocab_size": 20}
IMAGE = {**COMMON, "image_size": 16, "patch_size": 8}
GPT2 = {"n_embd": 24, "n_head": 2, "vocab_size": 20, "bos_token_id": 0, "eos_token_id": 1}
BART = {
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "vocab_size": 20, "decoder_start_token_id": 0}
SOUND = {
    **WORDS, "conv_dim": (8, 8), "conv_kernel": (10, 3), "conv_stride": (5, 2), "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2, "mask_time_prob": 0.0,
}  # fmt: skip
STAGES = {"hidden_sizes": [8, 16], "depths": [1, 1]}
# name: (class of the config, class of the model, sizes)
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "GPT2": ("GPT2Config", "GPT2LMHeadModel", {**GPT2, "n_layer": 2}),
    "GPT2x12": ("GPT2Config", "GPT2LMHeadModel", {**GPT2, "n_layer": 12}),
    "BERT": ("BertConfig", "BertForMaskedLM", WORDS),
    "DistilBERT": (
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "vocab_size": 20},
    ),
    "Llama": ("LlamaConfig", "LlamaForCausalLM", WORDS),
    "Qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {**WORDS, "num_key_value_heads": 1}),
    "Mixtral": ("MixtralConfig", "MixtralForCausalLM", {**WORDS, "num_key_value_heads": 2, "num_local_experts": 3}),
    "T5": ("T5Config", "T5ForConditionalGeneration", T5),
    "BART": ("BartConfig", "BartForConditionalGeneration", {**BART, "d_model": 16, "encoder_layers": 1, "vocab_size": 20}),
    "Mamba": ("MambaConfig", "MambaForCausalLM", {**WORDS, "state_size": 4}),
    "ViT": ("ViTConfig", "ViTForImageClassification", IMAGE),
    "ConvNeXt": ("ConvNextConfig", "ConvNextForImageClassification", {**STAGES, "num_stages": 2, "patch_size": 2}),
    "ResNet": ("ResNetConfig", "ResNetForImageClassification", {**STAGES, "embedding_size": 8}),
    "Wav2Vec2": ("Wav2Vec2Config", "Wav2Vec2ForCTC", SOUND),
}  # fmt: skip


def _inputs(net: Any) -> dict[str, Any]:
    """What the model reads."""
    if net.main_input_name == "pixel_values":
        return {"pixel_values": torch.randn(2, 3, 16, 16), "labels": torch.tensor([0, 1])}
    if net.main_input_name == "input_values":
        return {"input_values": torch.randn(2, 400), "labels": IDS[:, :3]}
    return {"input_ids": IDS, "labels": IDS}


def run(name: str, recorded: bool = False) -> tuple[Any, Any]:
    """The model and its loss."""
    torch.manual_seed(0)
    config, model, sizes = MODELS[name]
    net = getattr(hf, model)(getattr(hf, config)(**sizes)).train()
    given = _inputs(net)
    torch.manual_seed(1)
    if not recorded:
        return net, net(**given).loss
    with Recorder(net):
        return net, net(**given).loss


def order_of_backward(loss: Any) -> list[int]:
    """The nodes in the order in which the engine calls them."""
    ran: list[int] = []
    for i, node in enumerate(reach([loss.grad_fn])):
        node.register_prehook(lambda grads, i=i: ran.append(i))
    loss.backward()
    return ran


def grads(net: Any) -> list[bytes]:
    """The grads as bytes."""
    return [b"" if p.grad is None else p.grad.contiguous().numpy().tobytes() for p in net.parameters()]


def line(name: str) -> str:
    """A row of the table."""
    theirs, loss = run(name)
    order = order_of_backward(loss)
    found = []
    for recorded in (False, True):
        ours, loss = run(name, recorded)
        number = {n: i for i, n in enumerate(reach([loss.grad_fn]))}
        start = time.perf_counter()
        graph = TorchGraph([loss], {})
        stepper = Stepper(graph.document, TorchPass(graph, loss, None, None, False))
        built = time.perf_counter() - start
        stepper.finish()
        seconds = time.perf_counter() - start
        node_of = {id: number[n] for n, id in graph.node_ids.items()}
        same_order = [node_of[s.node] for s in stepper.trace.steps] == order
        same_bits = grads(ours) == grads(theirs)
        stepper.goto(0)
        untouched = all(p.grad is None for p in ours.parameters())
        loss.backward()
        good = grads(ours) == grads(theirs)
        own = sum(not n.formulas and n.variable is None for n in graph.document.nodes)
        found.append(
            f"{'recorded' if recorded else 'after the fact'}: order {same_order}, bits {same_bits}, Back {untouched}, "
            f"backward after it {good}, {len(order)} nodes ({own} without a formula of ours), "
            f"document {1000 * built:.0f} ms, stepping {1000 * (seconds - built) / len(order):.2f} ms a node"
        )
    return "; ".join(found)


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or MODELS:
        try:
            print(f"- {name}: {line(name)}", flush=True)
        except Exception as error:
            print(f"- {name}: FAILS: {type(error).__name__}: {error!s:.150}", flush=True)


if __name__ == "__main__":
    main()
