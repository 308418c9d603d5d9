"""The prompts of a reinforcement-learning run: dialogues of the chosen sources, cut to where an episode starts."""

from __future__ import annotations

from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Dialogue, Message
from eval.held_out import is_for_training
from train.rl_config import RlConfig
from train.training_rows import TrainingRow


def open_prompts(config: RlConfig) -> dict[str, TrainingRow]:
    """The dialogues that episodes start from by id, without duplicates, in the order of the sources.

    Raises:
        ConfigError: a source cannot be read, a row is used for evaluation, or an episode cannot start from a row.
    """
    starts: dict[str, TrainingRow] = {}
    for name, options in config.prompts.items():
        source = plugin.load("train.prompts", name)
        try:
            loaded = source.load(seed=config.seed, data_dir=config.data_dir, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(f"prompts.{name}: {error}") from error
        for number, dialogue in enumerate(loaded, start=1):
            place = f"prompts.{name} row {number} (id {dialogue.id})"
            if not is_for_training(dialogue):
                raise ConfigError(f"{place} is a row of {dialogue.task}, which models are evaluated on")
            start = cut(dialogue, config.episode, place)
            starts.setdefault(start.id, TrainingRow(start, place))
    return starts


def cut(dialogue: Dialogue, episode: str, place: str) -> Dialogue:
    """The part an episode starts from: up to the first question (two_turn) or the last answer (user_turn).

    Raises:
        ConfigError: the dialogue has no such turn.
    """
    turns = [message.role for message in dialogue.messages]
    if episode == "two_turn":
        end = turns.index("user") + 1 if "user" in turns else 0
        wanted = "user"
    else:
        end = len(turns) - turns[::-1].index("assistant") if "assistant" in turns else 0
        wanted = "assistant"
    if not end:
        raise ConfigError(f"{place} has no turn of the {wanted}, which episode {episode} starts after")
    kept = tuple(Message(message.role, message.text) for message in dialogue.messages[:end])
    return Dialogue(dialogue.task, kept, reference=dialogue.reference, meta=dialogue.meta)
