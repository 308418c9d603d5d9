"""Opens the chat format of a model folder: the folder's tokenizer in the family that a configuration names."""

from __future__ import annotations

from pathlib import Path

from eval import plugin
from eval.config import ConfigError, Plugin
from eval.rendering.chat_format import ChatFormat
from eval.rendering.turn_layout import History


def open_chat_format(folder: Path, family: Plugin, history: History = "as_history") -> ChatFormat:
    """The chat format of the model in `folder`.

    Args:
        family: a file of `eval/formats/`, with its options.
        history: how an assistant turn before a user turn is rendered; see `ChatFormat`.

    Raises:
        ConfigError: the tokenizer does not belong to this family, or its chat template does not work with it.
    """
    from transformers import AutoTokenizer

    try:
        format_class = plugin.load("eval.formats", family.name).Format
        opened: ChatFormat = format_class(AutoTokenizer.from_pretrained(folder), history=history, **family.options)
    except (OSError, ValueError) as error:
        todo = "use the tokenizer and template that the model was published with, or the format of its family"
        raise ConfigError(f"model {folder} with format {family.name}: {error}; {todo}") from error
    return opened
