"""The loss that TRL's trainer computes on our examples: through its fused head, on trained tokens only, weighted."""

from __future__ import annotations

import random

import pytest

from eval.rendering.chat_format import IGNORED
from train.adapters import add_adapters
from train.examples import TrainingExample
from train.sft_trainer import BLANK, make_trainer
from train.trainer_events import listener
from train.training_config import Lora

DRAW = random.Random(3)


def example(number: int, length: int, trained: int, weight: float = 1.0) -> TrainingExample:
    ids = [DRAW.randrange(1, 400) for _ in range(length)]
    return TrainingExample(str(number), ids, [IGNORED] * (length - trained) + ids[length - trained :], weight)


EXAMPLES = [example(number, length=12 + 5 * number, trained=3 + number) for number in range(4)]
WEIGHTED = [example(number, 20, 4, weight) for number, weight in enumerate((1.0, 0.25, 1.0, 0.0))]


@pytest.fixture
def make(tiny_model, smollm2_tokenizer, tmp_path):
    """(examples, adapters=False, architecture="llama", **settings) -> a trainer of a tiny model."""

    def made(examples, adapters=False, architecture="llama", callbacks=(), **settings):
        from trl import SFTConfig

        model = tiny_model(architecture, 512)
        if adapters:
            model = add_adapters(model, Lora(r=4, alpha=8))
        arguments = SFTConfig(
            str(tmp_path / "checkpoints"),
            **{"bf16": False, "gradient_checkpointing": False, "per_device_train_batch_size": 4, **settings},
            max_length=None,
            report_to=[],
            dataset_kwargs={"skip_prepare_dataset": True},
            remove_unused_columns=False,
            disable_tqdm=True,
            save_strategy="no",
            logging_steps=1,
        )
        trainer = make_trainer(model, smollm2_tokenizer, arguments, examples)
        for callback in callbacks:
            trainer.add_callback(callback)
        return trainer

    return made


def plain_losses(model, examples) -> list[float]:
    """The summed cross entropy of each example alone, by torch from the full logits."""
    import torch
    from torch.nn.functional import cross_entropy

    summed = []
    for one in examples:
        with torch.no_grad():
            logits = model(torch.tensor([one.input_ids])).logits[0, :-1]
        summed.append(cross_entropy(logits, torch.tensor(one.labels[1:]), ignore_index=IGNORED, reduction="sum").item())
    return summed


def batch_of(trainer):
    (batch,) = list(trainer.get_train_dataloader())
    return batch


@pytest.fixture
def projected(monkeypatch) -> list[int]:
    """How many positions each call of the fused head projects to the vocabulary."""
    from trl.trainer import utils

    counts: list[int] = []
    apply = utils._ChunkedLogProbFunction.apply

    def counting(hidden, *rest):
        counts.append(hidden.shape[0])
        return apply(hidden, *rest)

    monkeypatch.setattr(utils._ChunkedLogProbFunction, "apply", counting)
    return counts


@pytest.mark.parametrize("architecture", ["llama", "qwen3_5"])
@pytest.mark.parametrize("adapters", [False, True])
def test_the_fused_head_is_in_effect_and_gives_the_plain_loss(make, projected, adapters, architecture):
    import torch

    trainer = make(EXAMPLES, adapters, architecture)
    tokens = sum(one.trained for one in EXAMPLES)
    loss = trainer.compute_loss(trainer.model, batch_of(trainer), num_items_in_batch=torch.tensor(tokens))
    assert projected == [tokens]
    assert loss.item() == pytest.approx(sum(plain_losses(trainer.model, EXAMPLES)) / tokens, abs=1e-5)
    loss.backward()
    trained = [weights for weights in trainer.model.parameters() if weights.requires_grad]
    assert any(weights.grad is not None and weights.grad.abs().sum() > 0 for weights in trained)


@pytest.mark.parametrize("adapters", [False, True])
def test_the_gradient_is_that_of_the_plain_loss(make, adapters):
    import torch

    trainer = make(EXAMPLES, adapters)
    model, batch = trainer.model, batch_of(trainer)
    labels = batch["labels"]
    trainer.compute_loss(model, dict(batch)).backward()
    fused = {name: weights.grad.clone() for name, weights in model.named_parameters() if weights.grad is not None}
    model.zero_grad()
    model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss.backward()
    for name, weights in model.named_parameters():
        if weights.requires_grad:
            assert torch.allclose(fused[name], weights.grad, atol=1e-6), name


def test_a_weight_scales_the_loss_of_its_tokens(make):
    import torch

    trainer = make(WEIGHTED)
    tokens = sum(one.trained for one in WEIGHTED)
    loss = trainer.compute_loss(trainer.model, batch_of(trainer), num_items_in_batch=torch.tensor(tokens))
    expected = sum(one.weight * own for one, own in zip(WEIGHTED, plain_losses(trainer.model, WEIGHTED), strict=True))
    assert loss.item() == pytest.approx(expected / tokens, abs=1e-5)


def test_a_step_is_the_mean_over_its_tokens_however_it_is_accumulated(make):
    found = []
    for batch, accumulated in ((4, 1), (2, 2), (1, 4)):
        logged = []
        trainer = make(
            EXAMPLES,
            per_device_train_batch_size=batch,
            gradient_accumulation_steps=accumulated,
            max_steps=1,
            callbacks=[listener(on_log=lambda state, logs, logged=logged: logged.append(logs))],
        )
        trainer.train()
        found.append(logged[0]["loss"])
    assert found[1:] == pytest.approx(found[:1] * 2, abs=1e-5)


def test_nothing_is_printed_and_no_card_is_written(make, capsys, tmp_path):
    trainer = make(EXAMPLES, max_steps=2)
    trainer.train()
    trainer.create_model_card()
    assert capsys.readouterr().out == "" and not list(tmp_path.rglob("README.md"))


@pytest.mark.parametrize("architecture", ["llama", "qwen3_5"])
def test_a_blank_row_neither_adds_to_the_loss_nor_to_what_it_is_divided_by(make, architecture):
    alone, filled = [], []
    for found, rows in ((alone, EXAMPLES[:3]), (filled, [*EXAMPLES[:3], BLANK])):
        hear = listener(on_log=lambda state, logs, found=found: found.append(logs))
        make(rows, architecture=architecture, callbacks=[hear], max_steps=1).train()
    assert filled[0]["loss"] == pytest.approx(alone[0]["loss"], rel=1e-6)
    assert filled[0]["grad_norm"] == pytest.approx(alone[0]["grad_norm"], rel=1e-5)


def test_a_batch_of_blank_rows_has_no_loss_and_no_gradient(make):
    found = []
    hear = listener(on_log=lambda state, logs: found.append(logs))
    make([BLANK] * 4, adapters=True, architecture="qwen3_5", callbacks=[hear], max_steps=1).train()
    assert (found[0]["loss"], found[0]["grad_norm"]) == (0, 0)
