"""The positive control of held-out conversations: the real user turn in the data, judged like a generated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.dialogue import Dialogue, Message


def real_user_turn(task: str, prompt: Sequence[Message], meta: Mapping[str, Any]) -> list[Dialogue]:
    """The conversation up to its last user turn, as a list of one dialogue of the task "<task>_real_user".

    Only one per conversation, so that the controls are as independent of each other as the rows. Its last message is
    judged as is (`Dialogue.real_user`). Empty if that message does not reply to an assistant turn.
    """
    if len(prompt) < 2 or (prompt[-2].role, prompt[-1].role) != ("assistant", "user"):
        return []
    return [Dialogue(f"{task}_real_user", tuple(prompt), meta={**meta, "source": "real_user"})]
