"""The real user turn of a conversation as a control, where there is one."""

from __future__ import annotations

import pytest

from eval.dialogue import Dialogue, Message
from eval.real_user import real_user_turn

USER, REPLY, SYSTEM = Message("user", "And?"), Message("assistant", "So."), Message("system", "Be brief.")


@pytest.mark.parametrize("prompt", [(USER, REPLY, USER), (SYSTEM, USER, REPLY, USER), (USER, REPLY, USER, REPLY, USER)])
def test_a_user_turn_that_replies_is_a_control(prompt: tuple[Message, ...]) -> None:
    (control,) = real_user_turn("toy", prompt, {"row": 3})
    assert control == Dialogue("toy_real_user", prompt, meta={"row": 3, "source": "real_user"})
    assert control.real_user


@pytest.mark.parametrize("prompt", [(USER,), (SYSTEM, USER), (USER, USER), (USER, REPLY)])
def test_a_user_turn_that_replies_to_nothing_is_none(prompt: tuple[Message, ...]) -> None:
    assert real_user_turn("toy", prompt, {}) == []
