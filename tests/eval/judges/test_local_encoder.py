from __future__ import annotations

import json
import random
import runpy
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.gold import GoldItem
from eval.judges import local, local_encoder
from eval.judges.local_encoder import Judge
from eval.local_judge import sentence_encoder, vector_weigher
from eval.local_judge.sentence_encoder import SentenceEncoder, package_folder
from eval.local_judge.vector_fit import fit_vectors

TINY = runpy.run_path(str(Path(__file__).parents[1] / "local_judge" / "tiny_encoder.py"))
TURNS = {
    "Why does it need a coat?": "genuine_followup",
    "Can you explain that more simply?": "generic_followup",
    "Write a poem about a dog.": "new_task_prompt",
}


def dialogue(turn: str, place: str = "Lisbon") -> Dialogue:
    query, response = f"What should I see in {place}?", f"Walk up to the lighthouse of {place} and bring a coat."
    return Dialogue("test", (Message("user", query), Message("assistant", response), Message("user", turn)))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder of random weights, and the parameters that were fitted on its vectors."""
    folder = tmp_path_factory.mktemp("encoder")
    TINY["save"](folder / "model")
    items = [
        GoldItem(dialogue(turn, place), label, "followup" in label, place, "written", None)
        for place in ("Lisbon", "Oslo", "Quito", "Hanoi", "Accra")
        for turn, label in TURNS.items()
    ]
    fitted = fit_vectors(items, SentenceEncoder(folder / "model")).to_json()
    (folder / "fitted.json").write_text(json.dumps(fitted), encoding="utf-8")
    return folder


@pytest.fixture
def installed(tiny, monkeypatch):
    monkeypatch.setattr(local_encoder, "package_folder", lambda: tiny / "model")
    monkeypatch.setattr(local_encoder, "PARAMETERS", tiny / "fitted.json")


@pytest.mark.usefixtures("installed")
def test_it_judges_what_it_learned_and_what_is_defined():
    turns = {**TURNS, "": "degenerate_short", "Why?<|im_end|>": "malformed_artifact", "so she goes " * 9: None}
    results = [result for _, result in Judge().judge(map(dialogue, turns))]
    assert all(isinstance(result, Judgement) for result in results)
    assert [result.label for result in results][:5] == list(turns.values())[:5]
    assert results[0].reply == "model" and results[4].reply == "special_token" and results[5].reply == "loop"
    assert {result.judge for result in results} == {Judge().id}


@pytest.mark.usefixtures("installed")
def test_order_neighbours_and_batches_change_nothing(monkeypatch):
    turns = [dialogue(turn) for turn in (*TURNS, "90?", "", "Which coat, and is the way to the lighthouse steep?")]
    alone = {turn.id: next(iter(Judge().judge([turn])))[1] for turn in turns}
    random.Random(0).shuffle(turns)
    monkeypatch.setattr(local_encoder, "BATCH", 4)
    results = list(Judge().judge(turns))
    assert [turn.id for turn, _ in results] == [turn.id for turn in turns]
    assert {turn.id: result for turn, result in results} == alone


@pytest.mark.usefixtures("installed")
def test_dialogues_are_judged_as_they_arrive():
    def endless():
        while True:
            yield dialogue("Why?")

    assert isinstance(next(Judge().judge(endless()))[1], Judgement)


@pytest.mark.usefixtures("installed")
def test_what_cannot_be_judged_is_a_failure_among_judgements():
    answer = Dialogue("test", (Message("user", "hi"), Message("assistant", "hello")))
    results = [result for _, result in Judge().judge([answer, dialogue("Why?"), Dialogue("test", ())])]
    assert [isinstance(result, Failure) for result in results] == [True, False, True]
    assert next(result for _, result in Judge().judge([answer])).kind == "no_user_turn"


@pytest.mark.usefixtures("installed")
def test_it_abstains_where_it_is_told_to():
    ((_, result),) = Judge(abstain_below=0.9999).judge([dialogue("And the coats of others?")])
    assert isinstance(result, Failure) and result.kind == "uncertain"
    assert Judge(abstain_below=0.9).id == f"{Judge().id}-abstain0.9"


@pytest.mark.usefixtures("installed")
def test_other_weights_than_it_was_fitted_on_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(local_encoder, "package_folder", lambda: TINY["save"](tmp_path / "model", seed=1))
    with pytest.raises(ConfigError, match="refit the judge"):
        Judge()


def test_without_the_package_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(sentence_encoder, "PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(ConfigError, match="pip install"):
        Judge()


def test_what_ships_is_small_and_was_measured_on_unseen_queries():
    text = local_encoder.PARAMETERS.read_text(encoding="utf-8")
    stored = json.loads(text)
    assert len(text) < 1_000_000
    words = json.loads(local.PARAMETERS.read_text(encoding="utf-8"))
    assert (stored["labels"], stored["contexts"]) == (words["labels"], words["contexts"])
    assert len(stored["cross_validated"]["binary"]["kappa"]) == 3
    assert set(words["model"]["features"]) < set(stored["model"]["features"])


def test_every_file_that_reads_vectors_is_part_of_the_version():
    names = {path.name for path in vector_weigher.READERS}
    assert {"sentence_encoder.py", "turn_vectors.py", "vector_weigher.py", "turn_features.py"} <= names
    assert all(path.is_file() for path in vector_weigher.READERS)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("turn", "label"),
    [
        ("i tried the frozen bottle and it made it worse, should i stop?", "genuine_followup"),
        ("You say to see a doctor if it is numb. Mine tingles, does that count?", "genuine_followup"),
        ("Can you explain that more simply?", "generic_followup"),
        ("What is the capital of Portugal?", "new_task_prompt"),
        ("Thank you so much, that helps a lot!", "acknowledgement"),
        ("The user wants to know about heels. I should write the next message as the user.", "meta_planning"),
        ("How long?<|im_end|>", "malformed_artifact"),
    ],
)
def test_with_the_real_encoder_clear_cases_are_clear(turn, label):
    try:
        package_folder()
    except ConfigError as error:
        pytest.skip(str(error))
    query = "My heel hurts every morning when I get out of bed. What could that be?"
    response = (
        "Morning heel pain often comes from plantar fasciitis, an irritation of the band under the foot. Rolling a "
        "frozen bottle under the arch and stretching the calf for a few weeks usually helps. See a doctor if numb."
    )
    messages = (Message("user", query), Message("assistant", response), Message("user", turn))
    ((_, result),) = Judge().judge([Dialogue("test", messages)])
    assert isinstance(result, Judgement) and result.label == label
