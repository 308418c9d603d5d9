"""TRL's SFT trainer with ids, labels, weights and order from this project; model, loss and optimizer are TRL's.

TRL's fused head stays in effect: an example's weight multiplies the log-probabilities that the head has computed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from eval.rendering.chat_format import IGNORED
from train.example_order import ExampleOrder
from train.examples import TrainingExample
from train.fused_head import score_trained_positions_alone
from train.quiet_trainer import QuietTrainer

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import SFTConfig, SFTTrainer
    from trl import SFTTrainer as _Base
else:
    _Base = object


BLANK = TrainingExample("blank", [0, 0], [IGNORED, IGNORED])
"""An example without trained tokens. It fills the last batch of an epoch for processes that have no example left."""


class WeightedTrainer(QuietTrainer, _Base):
    """`SFTTrainer` with a weight per example and an order of its own.

    The weighted losses of a step are summed and divided by its number of trained tokens, weighted or not: with weights
    of 1 this is exactly TRL's loss, and the weight of one example does not change the gradient of another.
    """

    def __init__(self, order: ExampleOrder, **arguments: Any) -> None:
        self._order = order
        super().__init__(**arguments)

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
        return self._order

    def _run_epoch(self, *arguments: Any, **named: Any) -> Any:
        # With several processes, accelerate does not tell its sampler the epoch of a run resumed mid-epoch.
        self._order.set_epoch(named["epoch"])
        if not self._total_train_tokens:  # TRL restarts its count in a resumed run
            logged = [line["num_tokens"] for line in self.state.log_history if "num_tokens" in line]
            self._total_train_tokens = int(logged[-1]) if logged else 0
        return super()._run_epoch(*arguments, **named)


@functools.cache
def trainer_class() -> type[WeightedTrainer]:
    """`WeightedTrainer` over TRL's class; made on first use, because importing this file must not import trl."""
    from trl import SFTTrainer

    class Trainer(WeightedTrainer, SFTTrainer):
        """A `WeightedTrainer` that trains."""

    return Trainer


def make_trainer(
    model: PreTrainedModel | PeftModel,
    tokenizer: PreTrainedTokenizerBase,
    arguments: SFTConfig,
    examples: Sequence[TrainingExample],
) -> SFTTrainer:
    """A trainer of `model`, including its adapters if it has any, on `examples`."""
    score_trained_positions_alone()
    lengths = [len(example.input_ids) for example in examples]
    pass_rows = arguments.train_batch_size * arguments.world_size
    blanks = -len(examples) % pass_rows if arguments.world_size > 1 else 0
    return trainer_class()(
        order=ExampleOrder(lengths, pass_rows * arguments.gradient_accumulation_steps, arguments.seed, blanks),
        model=model,
        args=arguments,
        train_dataset=_as_dataset([*examples, *[BLANK] * blanks]),
        processing_class=tokenizer,
        data_collator=_collator(),
    )


def _as_dataset(examples: Sequence[TrainingExample]) -> Dataset:
    """The examples in TRL's columns, already tokenized and labelled, so that TRL has nothing to prepare."""
    from datasets import Dataset

    return Dataset.from_dict(
        {
            "input_ids": [example.input_ids for example in examples],
            "labels": [example.labels for example in examples],
            "weight": [example.weight for example in examples],
        }
    )


def _collator() -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """TRL's collator plus the weights. Padding is masked, so its id does not matter."""
    import torch
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    pad = DataCollatorForLanguageModeling(pad_token_id=0)

    def collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {**pad(rows), "weight": torch.tensor([row["weight"] for row in rows])}

    return collate
