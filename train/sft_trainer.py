"""TRL's SFT trainer on examples of our own: ids, labels, weights and order are ours, model, loss and optimizer TRL's.

Its fused head stays in effect: the weight of an example multiplies the log-probabilities that the head has computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from eval.rendering.chat_format import IGNORED
from train.example_order import ExampleOrder
from train.examples import TrainingExample
from train.fused_head import score_trained_positions_alone

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, TrainerCallback
    from trl import SFTConfig, SFTTrainer


BLANK = TrainingExample("blank", [0, 0], [IGNORED, IGNORED])
"""No token of it is trained: it keeps a process busy that an epoch has no example for, where others have one."""


def make_trainer(
    model: PreTrainedModel | PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    arguments: SFTConfig,
    examples: Sequence[TrainingExample],
    callbacks: Sequence[TrainerCallback] = (),
) -> SFTTrainer:
    """A trainer of `model`, with its adapters if it has any, on `examples`.

    The weighted losses of a step are summed and divided by its number of trained tokens, weighted or not: with weights
    of 1 this is TRL's loss exactly, and the weight of one example does not change the gradient of another.
    """
    from transformers import PrinterCallback
    from trl import SFTTrainer

    score_trained_positions_alone()
    lengths = [len(example.input_ids) for example in examples]
    together = arguments.train_batch_size * arguments.world_size
    blanks = -len(examples) % together if arguments.world_size > 1 else 0
    order = ExampleOrder(lengths, together * arguments.gradient_accumulation_steps, arguments.seed, blanks)

    class Trainer(SFTTrainer):
        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            weights = inputs.pop("weight")[:, None]

            def weighted(*args: Any, **kwargs: Any) -> Any:
                outputs = model(*args, **kwargs)
                outputs.log_probs = outputs.log_probs * weights
                return outputs

            return super().compute_loss(weighted, inputs, return_outputs, num_items_in_batch)

        def _get_train_sampler(self, train_dataset: Any = None) -> Any:
            return order

        def _run_epoch(self, *arguments: Any, **named: Any) -> Any:
            # accelerate tells its sampler of an epoch, but not of one in whose middle several processes go on.
            order.set_epoch(named["epoch"])
            if not self._total_train_tokens:  # TRL begins to count anew in a run that goes on
                told = [line["num_tokens"] for line in self.state.log_history if "num_tokens" in line]
                self._total_train_tokens = int(told[-1]) if told else 0
            return super()._run_epoch(*arguments, **named)

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """None for a checkpoint; the card of a run is `train/model_card.py`."""

        def _send_telemetry(self) -> None:
            """Nothing about a run is sent anywhere that its configuration does not name."""

    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=_as_dataset([*examples, *[BLANK] * blanks]),
        processing_class=tokenizer,
        data_collator=_collator(),
        callbacks=list(callbacks),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _as_dataset(examples: Sequence[TrainingExample]) -> Dataset:
    """The examples in TRL's columns: tokenized and labelled, so that TRL has nothing to prepare."""
    from datasets import Dataset

    return Dataset.from_dict(
        {
            "input_ids": [example.input_ids for example in examples],
            "labels": [example.labels for example in examples],
            "weight": [example.weight for example in examples],
        }
    )


def _collator() -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """TRL's collator, with the weights; padding is masked, so that its id has no say."""
    import torch
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    pad = DataCollatorForLanguageModeling(pad_token_id=0)

    def collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {**pad(rows), "weight": torch.tensor([row["weight"] for row in rows])}

    return collate
