"""The scripted teacher follows its plan, reacts to the last response, and is deterministic."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from data_gen.plan import Persona, Plan, make_plans
from data_gen.style import read_styles, style_names
from data_gen.teacher import TASK
from data_gen.teachers import scripted
from data_gen.teachers.scripted import Teacher
from eval.dialogue import Dialogue, Message

PERSONAS = [Persona("A baker.", "beginner", "save time", "I only have one oven", "I'm baking for a school")]
SOURDOUGH = """A starter that smells of acetone is hungry. Feed it twice a day with equal weights of flour and water.

1. Throw away all but 50 g of it.
2. Add rye flour for the first three days.
3. Keep the jar at 24 degrees, away from draughts.

It should double in six hours. Does it float in a glass of water?"""


def seeds() -> list[Dialogue]:
    math = (
        "Lea has 6 boxes of 8 eggs and 3 are broken. How many are whole?",
        "6 * 8 = 48 eggs.\n48 - 3 = 45.\n#### 45",
    )
    return [
        Dialogue("written", (Message("user", "My starter smells odd."), Message("assistant", SOURDOUGH))),
        Dialogue("written", (Message("user", math[0]), Message("assistant", math[1]))),
    ]


def plans(count: int = 80, plain_endings: float = 0.2) -> list[Plan]:
    styles = read_styles(style_names())
    made = make_plans(count, seeds(), styles, PERSONAS, exchanges=(2, 4), plain_endings=plain_endings, seed=3)
    return list(made)


@pytest.fixture(scope="module")
def made() -> list[tuple[Plan, Dialogue]]:
    return list(Teacher().converse(plans()))


def test_each_plan_comes_back_once_in_order(made: list[tuple[Plan, Dialogue]]) -> None:
    assert [plan.number for plan, _ in made] == list(range(80))


def test_a_complete_conversation_has_an_exchange_for_each_style(made: list[tuple[Plan, Dialogue]]) -> None:
    complete = [(plan, dialogue) for plan, dialogue in made if dialogue.failure is None]
    assert len(complete) > 60
    for plan, dialogue in complete:
        new = dialogue.messages[len(plan.seed.messages) :]
        assert [message.role for message in new] == ["user", "assistant"] * len(plan.styles)
        assert dialogue.messages[: len(plan.seed.messages)] == plan.seed.messages
        assert [name.split("/")[0] for name in dialogue.meta["made"]["phrasings"]] == list(plan.styles)
        assert dialogue.task == TASK and all(message.by == Teacher().id for message in new)


def test_a_failed_conversation_has_a_reason_and_keeps_its_turns(made: list[tuple[Plan, Dialogue]]) -> None:
    plan = Plan(
        0, Dialogue("written", (Message("user", "Hi"), Message("assistant", "Yo"))), ("extend",), PERSONAS[0], 1
    )
    ((_, dialogue),) = Teacher().converse([plan])
    assert dialogue.failure is not None and dialogue.failure.kind == "nothing_to_react_to"
    assert dialogue.failure.permanent, "the teacher is deterministic"
    assert dialogue.messages == plan.seed.messages


def test_the_first_user_turn_shares_words_with_the_response(made: list[tuple[Plan, Dialogue]]) -> None:
    """For every style that follows up."""
    styles = read_styles(style_names())
    for plan, dialogue in made:
        if dialogue.failure is None and styles[plan.styles[0]].follows_up:
            response, turn = (dialogue.messages[place].text.lower().split() for place in (1, 2))
            shared = {word.strip('.,?!"') for word in response} & {word.strip('.,?!"') for word in turn}
            assert shared - {"the", "a", "to", "in", "is", "it", "i", "of"}, dialogue.messages[2].text


def test_it_is_deterministic_and_varies_with_the_random_seed() -> None:
    again = [[m.text for m in dialogue.messages] for _, dialogue in Teacher().converse(plans(20))]
    assert again == [[m.text for m in dialogue.messages] for _, dialogue in Teacher().converse(plans(20))]
    assert len({texts[2] for texts in again if len(texts) > 2}) > 15


def test_a_wrong_sum_is_corrected_in_the_reply() -> None:
    wrong = (Message("user", "How much is it?"), Message("assistant", "It is 9 + 2 = 7 altogether."))
    replies = []
    for number in range(40):
        plan = Plan(number, Dialogue("written", wrong), ("verify_answer",), PERSONAS[0], number)
        ((_, dialogue),) = Teacher().converse([plan])
        if dialogue.failure is None and dialogue.meta["made"]["phrasings"] in (
            ["verify_answer/0"],
            ["verify_answer/1"],
        ):
            replies.append(dialogue.messages[-1].text)
    assert any("9 + 2 is 11, so 7 was a mistake" in text for text in replies)
    assert not any("line holds" in text for text in replies)


def test_braces_in_a_response_are_text() -> None:
    response = "Use the {clause} macro in the [left|right] margin of the page, it keeps {term} in place for you."
    seed = Dialogue("written", (Message("user", "How?"), Message("assistant", response)))
    plans = [Plan(number, seed, ("clarify_step",), PERSONAS[0], number) for number in range(30)]
    texts = [message.text for _, dialogue in Teacher().converse(plans) for message in dialogue.messages[2:]]
    assert texts
    for text in texts:
        assert "{sentence}" not in text and "{next}" not in text


def test_the_id_depends_on_code_and_word_lists_but_not_on_docstrings_and_comments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(scripted.CODE, tmp_path / "scripted")
    monkeypatch.setattr(scripted, "CODE", tmp_path / "scripted")
    original = Teacher().id
    scene, words = tmp_path / "scripted" / "scene.py", tmp_path / "scripted" / "function_words.yaml"
    scene.write_text('"""Another docstring."""\n# A comment.\n' + scene.read_text().split('"""', 2)[2])
    words.write_text("# A comment.\n" + words.read_text())
    assert Teacher().id == original
    scene.write_text(scene.read_text() + "\nCODE = 1\n")
    changed = Teacher().id
    words.write_text(words.read_text() + "\nextra: [word]\n")
    assert len({original, changed, Teacher().id}) == 3
