# ruff: noqa: RUF001 (text of several scripts is what this file is about)
from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.config import ConfigError, options_for
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.fit_judge import judge_unseen
from eval.gold import read_gold
from eval.judges import local
from eval.judges.local import Judge
from eval.labels import ALWAYS_GENUINE, LABELS, NEVER_GENUINE
from eval.rater_agreement import kappa

QUERY = "A baker fills 6 trays with 15 rolls each and sells all but 12 rolls. How many rolls does the baker sell?"
RESPONSE = (
    "The baker fills 6 trays with 15 rolls each, so there are 6 * 15 = 90 rolls in the shop window.\n"
    "Taking away the 12 that stay behind leaves 90 - 12 = 78 rolls.\nThe answer is 78."
)
HEALTH_QUERY = "My heel hurts every morning when I get out of bed. What could that be?"
HEALTH_RESPONSE = (
    "Morning heel pain often comes from plantar fasciitis, an irritation of the band under the foot. Rolling a frozen "
    "bottle under the arch and stretching the calf for a few weeks usually helps. See a doctor if the heel is numb."
)
JUDGE = Judge()


def dialogue(turn: str, query: str = QUERY, response: str = RESPONSE) -> Dialogue:
    return Dialogue("test", (Message("user", query), Message("assistant", response), Message("user", turn)))


def judged(turn: str, query: str = QUERY, response: str = RESPONSE) -> Judgement:
    ((_, judgement),) = JUDGE.judge([dialogue(turn, query, response)])
    assert isinstance(judgement, Judgement)
    return judgement


@pytest.mark.parametrize(
    ("label", "turn"),
    [
        ("malformed_artifact", "How many rolls<|im_end|>\n<|im_end|>assistant"),
        ("malformed_artifact", "<|channel|>analysis<|message|>The baker sold 78 rolls."),
        ("malformed_artifact", "The baker <|user|> sells <|assistant|>"),
        ("malformed_artifact", "[INST] How many rolls are left? [/INST]"),
        ("malformed_artifact", "<｜User｜>How many rolls are left?"),
        ("malformed_artifact", "<start_of_turn>model\nThe baker sells 78."),
        ("malformed_artifact", "The baker sells rolls. " * 12),
        ("malformed_artifact", "so she sells the rolls, " * 8 + "so she"),
        ("malformed_artifact", "我想问一下这个面包，" * 9),
        ("malformed_artifact", "<think>\n\n</think>"),
        ("malformed_artifact", "</think>\n\nWhy do you take 12 away?"),
        ("malformed_artifact", "How many rolls are left? /nothink"),
        ("malformed_artifact", "analysisWe need the next turn.assistantfinalHow many are left?"),
        ("degenerate_short", ""),
        ("degenerate_short", " \n\t "),
        ("degenerate_short", "."),
        ("degenerate_short", "?!"),
        ("previous_turn_restate", QUERY),
        ("previous_turn_restate", QUERY.upper()),
        ("previous_turn_restate", "A baker fills 6 trays with 15 rolls each and sells all but 12 rolls."),
        ("assistant_turn_restate", RESPONSE),
        ("assistant_turn_restate", RESPONSE.split("\n")[1]),
        (
            "meta_planning",
            "The user wants to know how many rolls are sold. I should write the next message as the user.",
        ),
        ("meta_planning", "Okay, so I need to act as the user here. Let me think about what they would ask next."),
        ("assistant_continuation", "I hope this helps! Let me know if you have any other questions about the rolls."),
        ("new_task_prompt", "Write a short poem about the sea in winter."),
        ("new_task_prompt", "A train leaves at 9 and travels 240 miles at 60 miles an hour. When does it arrive?"),
        ("generic_followup", "Can you explain that more simply?"),
        ("generic_followup", "Could you give me another example?"),
        ("generic_followup", "Make it shorter."),
        (
            "genuine_followup",
            "Wait, why do you take 12 away from the 90? I thought those stay behind in the shop window.",
        ),
        ("acknowledgement", "Thank you so much, that helps a lot!"),
    ],
)
def test_a_clear_case_of_each_label(label, turn):
    judgement = judged(turn)
    assert judgement.label == label
    assert judgement.genuine == (label in ALWAYS_GENUINE)


@pytest.mark.parametrize(
    "turn",
    [
        "What is plantar fasciitis exactly?",
        "i tried the frozen bottle and it made it worse, should i stop?",
        "You say to see a doctor if it is numb. Mine tingles, does that count?",
    ],
)
def test_a_turn_that_takes_up_the_response_is_genuine(turn):
    judgement = judged(turn, HEALTH_QUERY, HEALTH_RESPONSE)
    assert (judgement.label, judgement.genuine) == ("genuine_followup", True)


@pytest.mark.parametrize(
    "turn", [HEALTH_QUERY, "What is the capital of Portugal?", "Thanks, bye!", HEALTH_RESPONSE[:120]]
)
def test_a_turn_that_does_not_take_up_the_response_is_not_genuine(turn):
    assert not judged(turn, HEALTH_QUERY, HEALTH_RESPONSE).genuine


def test_a_special_token_that_the_conversation_is_about_is_no_debris():
    response = "The token <|endoftext|> marks the end of a document."
    assert (
        judged("Why does <|endoftext|> need its own id?", "What is a stop token?", response).label
        != "malformed_artifact"
    )


def test_the_binary_of_a_loop_is_that_of_the_text_before_it():
    reaction = "Wait, why do you take 12 away from the 90 rolls in the shop window? "
    assert judged(reaction + "please tell me now " * 20).genuine
    assert not judged("please tell me now " * 20).genuine


@pytest.mark.parametrize("turn", ["Yes", "yeah please.", "No.", "oui"])
def test_a_bare_yes_or_no_is_an_answer_only_to_a_question(turn):
    asked = judged(turn, HEALTH_QUERY, HEALTH_RESPONSE + " Would you like some stretches for it?")
    assert (asked.label, asked.genuine, asked.reply) == ("genuine_followup", True, "answer")
    assert judged(turn, HEALTH_QUERY, HEALTH_RESPONSE).reply != "answer"


def test_the_closer_copy_names_the_restatement():
    query, response = "Say: the ocean hides the moon tonight", "The ocean hides the moon tonight"
    assert judged("The ocean hides the moon tonight", query, response).label == "assistant_turn_restate"
    assert judged(query, query, response).label == "previous_turn_restate"


def test_what_cannot_be_judged_is_a_failure_with_its_kind():
    user, assistant = Message("user", "hi"), Message("assistant", "hello")
    cases = {(): "no_user_turn", (user, assistant): "no_user_turn", (user,): "no_response", (user, user): "no_response"}
    for messages, kind in cases.items():
        ((_, result),) = JUDGE.judge([Dialogue("test", messages)])
        assert isinstance(result, Failure)
        assert (result.stage, result.kind) == ("judge", kind)


def test_it_abstains_only_where_it_is_told_to_and_only_when_uncertain():
    turns = ["Why 12?", "Thanks, bye!", "what about the shop then", "And the trays of the other bakers?", QUERY]
    given = [next(iter(JUDGE.judge([dialogue(turn)])))[1] for turn in turns]
    assert all(isinstance(result, Judgement) for result in given)
    wary = Judge(abstain_below=0.9999)
    results = [next(iter(wary.judge([dialogue(turn)])))[1] for turn in turns]
    assert isinstance(results[-1], Judgement)  # a copy follows from the definition
    assert {(r.stage, r.kind) for r in results[:-1] if isinstance(r, Failure)} == {("judge", "uncertain")}
    assert all(r.permanent for r in results[:-1] if isinstance(r, Failure)), "the judge is deterministic"
    assert wary.id == f"{JUDGE.id}-abstain0.9999"


def test_a_bound_that_no_certainty_can_be_under_is_refused():
    with pytest.raises(ConfigError, match=r"judge.abstain_below"):
        options_for(Judge.__init__, {"abstain_below": 0.3}, "judge")


def test_a_response_without_a_query_and_an_empty_response_are_judged():
    for context in (
        (Message("assistant", "Hello! What do you need?"),),
        (Message("user", ""), Message("assistant", "")),
    ):
        ((_, result),) = JUDGE.judge([Dialogue("test", (*context, Message("user", "Help with a letter, please.")))])
        assert isinstance(result, Judgement)


TEXTS = (
    st.text(max_size=200)
    | st.text("ab .?\n<|>1", max_size=80)
    | st.sampled_from(["", "你好吗", "\u202eabc", "a\u0301" * 40])
)


@settings(max_examples=120, deadline=None)
@given(query=TEXTS, response=TEXTS, turn=TEXTS)
def test_any_text_gets_a_known_label_and_a_binary_that_the_label_allows(query, response, turn):
    judgement = judged(turn, query, response)
    assert judgement.label in LABELS
    assert judgement == judged(turn, query, response)
    assert judgement.genuine or judgement.label not in ALWAYS_GENUINE
    assert not (judgement.genuine and judgement.label in NEVER_GENUINE)


def test_order_and_neighbours_change_nothing():
    turns = [
        dialogue(turn) for turn in ("Why 12?", "Thanks!", QUERY, "", "Can you explain it?", "user user user", "90?")
    ]
    alone = {turn.id: next(iter(JUDGE.judge([turn])))[1] for turn in turns}
    random.Random(0).shuffle(turns)
    assert {turn.id: result for turn, result in Judge().judge(turns)} == alone


def test_dialogues_are_judged_as_they_arrive():
    def endless():
        while True:
            yield dialogue("Why 12?")

    assert isinstance(next(JUDGE.judge(endless()))[1], Judgement)


@pytest.mark.parametrize("turn", ["a b c " * 20_000, "x" * 120_000, "你" * 100_000, '"' * 100_000, "1,2 " * 30_000])
def test_a_very_long_turn_is_not_genuine(turn):
    assert not judged(turn).genuine


def test_the_id_names_the_judge_and_changes_with_the_weights(tmp_path, monkeypatch):
    assert JUDGE.id == Judge().id
    assert JUDGE.id.startswith("local-2-")
    parameters, changed = json.loads(local.PARAMETERS.read_text(encoding="utf-8")), tmp_path / "local.json"
    monkeypatch.setattr(local, "PARAMETERS", changed)
    changed.write_text(json.dumps({**parameters, "n": 0}), encoding="utf-8")
    assert Judge().id == JUDGE.id
    parameters["model"]["mean"][0] += 0.25
    changed.write_text(json.dumps(parameters), encoding="utf-8")
    assert Judge().id != JUDGE.id


def test_every_file_that_decides_is_part_of_the_version():
    package = Path(local.__file__).parents[1]
    waiting, found = {package / "judges" / "local.py"}, set()
    while waiting:
        path = waiting.pop()
        found.add(path)
        text = path.read_text(encoding="utf-8")
        imported = re.findall(r"^\s*from (eval\.[\w.]+) import", text, re.MULTILINE)
        waiting |= {package.parent / f"{name.replace('.', '/')}.py" for name in imported} - found
        words = {path.with_suffix(".yaml"), *(path.with_name(name) for name in re.findall(r"\w+\.yaml", text))}
        found |= {name for name in words if name.is_file()}
    shapes = {
        package / name for name in ("dialogue.py", "judge.py", "judges/local.py", "local_judge/effective_text.py")
    }
    assert found - shapes == set(local.READERS)


@pytest.mark.integration
def test_items_on_queries_that_were_not_seen_are_judged_as_the_labels_say():
    data = Path(os.environ.get("USERTURN_DATA", Path(__file__).parents[4] / "shared" / "data"))
    gold = data.parent / "gold" / "dev.jsonl"
    if not gold.is_file():
        pytest.skip(f"no labelled items at {gold}")
    items = read_gold(gold)
    judged = judge_unseen(items, seed=0)
    binary = kappa([item.genuine for item in items], [judgement.genuine for judgement in judged])
    label = kappa([item.label for item in items], [judgement.label for judgement in judged])
    assert binary >= 0.5 and label >= 0.5
    stored = json.loads(local.PARAMETERS.read_text(encoding="utf-8"))
    if stored["n"] == len(items):
        assert stored["cross_validated"]["binary"]["kappa"][0] == pytest.approx(binary, abs=0.03)
