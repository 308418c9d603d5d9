"""The positive control of held-out conversations: the user turn that the data has, judged like a generated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.dialogue import Dialogue, Message


def real_user_turn(task: str, prompt: Sequence[Message], meta: Mapping[str, Any]) -> list[Dialogue]:
    """The conversation up to its last user turn, as one dialogue of the task "<task>_real_user".

    One a conversation, so that the controls are as independent of each other as the rows are. Its last message is to be
    judged as it is (`Dialogue.real_user`): it replies to the assistant turn before it. None if it replies to none.
    """
    if len(prompt) < 2 or (prompt[-2].role, prompt[-1].role) != ("assistant", "user"):
        return []
    return [Dialogue(f"{task}_real_user", tuple(prompt), meta={**meta, "source": "real_user"})]
