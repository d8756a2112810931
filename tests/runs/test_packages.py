"""Trainers from PyPI run unchanged under a watch. These tests exist where the packages are installed.

pip install lightning transformers accelerate && python -m pytest -m packages
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av

pytestmark = [pytest.mark.packages, pytest.mark.filterwarnings("ignore")]  # their warnings are their own
STEPS = 3

if find_spec("torch") and find_spec("transformers"):

    def test_transformers_trainer(tmp_path: Path) -> None:
        import torch
        import transformers

        config = transformers.GPT2Config(vocab_size=10, n_embd=16, n_layer=2, n_head=2, n_positions=8)
        model = transformers.GPT2LMHeadModel(config)
        data = [{"input_ids": torch.arange(6) % 7, "labels": torch.arange(6) % 7}] * 16
        arguments = transformers.TrainingArguments(
            output_dir=str(tmp_path), max_steps=STEPS, per_device_train_batch_size=2, gradient_accumulation_steps=2,
            report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="no",
        )  # fmt: skip
        with av.watch(model) as run:
            transformers.Trainer(model=model, args=arguments, train_dataset=data).train()
            assert run.map().svg
            with run._loop.opened(None) as (root, _, _):  # the loss alone, though logits are returned beside it
                last_loss = float(root.detach())
        checked(run, passes=2)
        assert last_loss == pytest.approx(run.totals()["loss"][-1])


if find_spec("torch") and find_spec("accelerate"):

    def test_accelerate() -> None:
        import accelerate
        import torch

        accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
        model = torch.nn.Linear(4, 1)
        with av.watch(model) as run:
            prepared, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters()))
            for _ in range(2 * STEPS):
                with accelerator.accumulate(prepared):
                    accelerator.backward(prepared(torch.randn(3, 4)).sum())
                    accelerator.clip_grad_norm_(prepared.parameters(), 0.1)
                    optimizer.step()
                    optimizer.zero_grad()
        checked(run, passes=2)


if find_spec("torch") and find_spec("lightning"):

    def test_lightning() -> None:
        import lightning
        import torch

        class Model(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.net = torch.nn.Linear(4, 1)

            def training_step(self, batch: Any, index: int) -> Any:
                return self.net(batch).pow(2).mean()

            def configure_optimizers(self) -> Any:
                return torch.optim.Adam(self.parameters())

        model = Model()
        quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
        with av.watch(model) as run:
            trainer = lightning.Trainer(max_steps=STEPS, accelerator="cpu", gradient_clip_val=0.01, **quiet)
            trainer.fit(model, torch.utils.data.DataLoader(torch.randn(16, 4), batch_size=4))
        checked(run, passes=1)


def checked(run: Any, passes: int) -> None:
    """Every step has its loss, its passes, its clipping; nothing in the watch failed."""
    totals = run.totals()
    assert run.history.steps == STEPS
    assert list(totals["passes"]) == [passes] * STEPS
    assert all(isinstance(value, float) and math.isfinite(value) for name in ("loss", "clip", "rate") for value in totals[name])
    assert run._watch.faults == []
