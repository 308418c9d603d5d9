from __future__ import annotations

import pytest

from eval.dialogue import Message
from eval.rendering.turn_layout import TurnTemplate

Turns = list[dict[str, str]]


def plain(turns: Turns, add_generation_prompt: bool) -> str:
    """Trims user texts, and assistant texts on the left; closes a final assistant turn with a different token."""
    text = "<start>"
    for turn in turns:
        if turn["role"] == "user":
            text += f"<user>{turn['content'].strip()}<end>"
        else:
            text += f"<assistant> {turn['content'].lstrip()}{'<return>' if turn is turns[-1] else '<end>'}"
    return text + ("<assistant> " if add_generation_prompt else "")


def thinks(turns: Turns, add_generation_prompt: bool) -> str:
    """Writes the trimmed reasoning of a final assistant turn; the model opens it itself."""
    text = ""
    for turn in turns:
        thought = f"\n<think>{turn['thought'].strip()}</think>" if turn is turns[-1] and "thought" in turn else ""
        text += f"<{turn['role']}>{thought}\n{turn['content']}"
    return text + ("<assistant>" if add_generation_prompt else "")


def drops_system(turns: Turns, add_generation_prompt: bool) -> str:
    return plain([turn for turn in turns if turn["role"] != "system"], add_generation_prompt)


def says_all_twice(turns: Turns, add_generation_prompt: bool) -> str:
    return plain(turns + turns, add_generation_prompt)


def backwards(turns: Turns, add_generation_prompt: bool) -> str:
    return plain(turns[::-1], add_generation_prompt)


def closes_last_user_differently(turns: Turns, add_generation_prompt: bool) -> str:
    return plain(turns, add_generation_prompt) + ("<stop>" if turns[-1]["role"] == "user" else "")


def test_a_conversation_is_cut_at_its_texts():
    layout = TurnTemplate(plain, "as_history", "it").closed(("user", "assistant", "user"))
    assert layout.pieces == ("<start><user>", "<end><assistant> ", "<end><user>", "<end>")


def test_generation_starts_where_the_header_of_a_last_assistant_turn_ends():
    template = TurnTemplate(thinks, "as_history", "it", reasoning_field="thought")
    layout = template.closed(("user", "assistant"))
    assert layout.pieces == ("<user>\n", "<assistant>", "\n", "")
    assert [slot.holds for slot in layout.slots] == ["text", "start", "text"]
    assert layout.pieces[:2] == template.opened(("user",), "assistant").pieces
    assert [slot.holds for slot in template.closed(("user", "assistant", "user")).slots] == ["text"] * 3
    assert template.closed(("assistant",)).pieces == ("<assistant>\n", "")


def test_only_the_final_turn_has_a_slot_for_reasoning():
    template = TurnTemplate(thinks, "as_history", "it", reasoning_field="thought")
    layout = template.closed(("user", "assistant"), reasoned=True)
    assert layout.pieces == ("<user>\n", "<assistant>", "\n<think>", "</think>\n", "")
    messages = [Message("user", " hi "), Message("assistant", " yo ", reasoning=" hm ")]
    assert [slot.fill(messages) for slot in layout.slots] == [" hi ", "", "hm", " yo "]
    assert layout.slots[2].fill([*messages[:1], Message("assistant", "yo")]) == ""
    assert "think" not in "".join(template.opened(("user", "assistant"), "user").pieces)


def test_reasoning_is_an_error_in_a_template_that_does_not_support_it():
    with pytest.raises(ValueError, match=r"the text of turn 0, the text of turn 1, not .*the reasoning of turn 1, the"):
        TurnTemplate(plain, "as_history", "it").closed(("user", "assistant"), reasoned=True)


def test_white_space_is_kept_where_the_template_keeps_it():
    question, answer = TurnTemplate(plain, "as_history", "it").opened(("user", "assistant"), "user").slots
    messages = [Message("user", "\n a b \n"), Message("assistant", "\n a b \n")]
    assert question.fill(messages) == "a b"
    assert answer.fill(messages) == "a b \n"


def test_ten_and_more_turns_keep_their_order():
    roles = ("user", "assistant") * 6
    layout = TurnTemplate(plain, "as_history", "it").closed((*roles, "user"))
    assert [slot.turn for slot in layout.slots] == list(range(13))


@pytest.mark.parametrize(("history", "closer"), [("as_history", "<end>"), ("as_last", "<return>")])
def test_history_decides_how_the_last_assistant_turn_is_closed(history, closer):
    template = TurnTemplate(plain, history, "it")
    assert template.opened(("user", "assistant"), "user").pieces[-1] == f"{closer}<user>"
    assert template.opened(("user",), "user").pieces[-1] == "<end><user>"
    assert template.opened(("user",), "assistant").pieces[-1] == "<end><assistant> "
    assert template.opened((), "user").pieces == ("<start><user>",)


@pytest.mark.parametrize(
    ("render", "roles", "written"),
    [
        (drops_system, ("system", "user"), "writes the text of turn 1, not the text of turn 0, the text of turn 1"),
        (says_all_twice, ("user",), "the text of turn 0, the text of turn 0, not"),
        (backwards, ("user", "user"), "the text of turn 1, the text of turn 0, not"),
    ],
)
def test_a_message_dropped_repeated_or_moved_is_an_error(render, roles, written):
    with pytest.raises(ValueError, match=f"^it drops, repeats or reorders a message: .*{', '.join(roles)}.*{written}"):
        TurnTemplate(render, "as_history", "it").closed(roles)


def test_as_last_needs_a_header_that_can_be_separated_from_the_closer():
    template = TurnTemplate(closes_last_user_differently, "as_last", "it")
    with pytest.raises(ValueError, match=r"^it closes a final user turn differently from an earlier one"):
        template.opened(("user", "assistant"), "user")


def test_a_conversation_without_turns_is_an_error():
    with pytest.raises(ValueError, match="the conversation has no turns"):
        TurnTemplate(plain, "as_history", "it").closed(())


def test_each_sequence_of_roles_is_rendered_once():
    calls = []

    def counted(turns: Turns, add_generation_prompt: bool) -> str:
        calls.append(len(turns))
        return plain(turns, add_generation_prompt)

    template = TurnTemplate(counted, "as_history", "it")
    for _ in range(3):
        template.closed(("user", "assistant"))
        template.opened(("user",), "assistant")
    assert calls == [2, 1]
