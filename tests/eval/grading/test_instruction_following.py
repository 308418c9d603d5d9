"""Verdicts are those of the published checkers; open cases (empty texts, unknown ids, chance) are defined."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import langdetect
import pytest

from eval.dialogue import Dialogue, Message
from eval.grading.instruction_following import Verdict, load_prompts, verdicts
from eval.sources import Source
from eval.tasks import ifbench, ifeval

TOY = Source("https://example.org", "MIT", ("toy.jsonl",))
NO_COMMA = {"id": "punctuation:no_comma", "kwargs": {}}
WORDS = {"id": "length_constraints:number_words", "kwargs": {"relation": "less than", "num_words": 3}}
FRENCH = {"id": "language:response_language", "kwargs": {"language": "fr"}}
HASHES = {"id": "keywords:letter_frequency", "kwargs": {"letter": "#", "let_frequency": 2, "let_relation": "at least"}}
DRAWN_LETTERS = {"1122", "1129"}
"""Keys of IFEval with a "letter" (# and !) for which the checkers draw a random one."""
JUNK = (
    "Ok, so be it",
    'Radar (a [b {c}]) bb, "x" ""; - 1\n* 2 and and "',
    "big bad bat\n* one\n* two\nbig bad",
    "\n\n".join(["No one cares. So what? Up! It is. Étude 7."] * 40),
)
"""Texts of which each checker must fail one, at least once."""
PASS, FAIL = Verdict(True, True), Verdict(False, False)


def answered(text: str, *instructions: dict[str, Any], task: str = "ifeval", prompt: str = "Write.") -> Dialogue:
    """A dialogue whose answer is to be graded."""
    messages = (Message("user", prompt), Message("assistant", text, "model", "stop"))
    return Dialogue(task, messages, meta={"instructions": list(instructions)})


@pytest.fixture
def load(nltk_data: None, data_dir: Path, tmp_path: Path) -> Any:
    """Load rows, each given as changes to a valid one, from a data folder that has NLTK's data."""

    def load(*changes: dict[str, Any]) -> list[Dialogue]:
        rows = [
            {"key": n, "prompt": f"Write {n}.", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
            | change
            for n, change in enumerate(changes)
        ]
        (tmp_path / "toy.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return load_prompts("ifeval", TOY, None, 0, tmp_path)

    return load


def test_a_row_becomes_its_verbatim_prompt_with_its_instructions(load: Any) -> None:
    kwargs = [{"relation": "less than", "num_words": 3, "letter": None}, None]
    ids = ["length_constraints:number_words", "punctuation:no_comma"]
    (dialogue,) = load({"prompt": " Write\n ", "instruction_id_list": ids, "kwargs": kwargs})
    assert dialogue.messages == (Message("user", " Write\n "),)
    assert dialogue.meta == {"key": "0", "instructions": [WORDS, NO_COMMA]}
    assert verdicts(dialogue) is None and ifeval.check(dialogue) is None


def test_only_nulls_are_dropped(load: Any) -> None:
    given = {"relation": "at least", "num_words": 0, "first_word": None}
    (dialogue,) = load({"instruction_id_list": ["length_constraints:number_words"], "kwargs": [given]})
    assert dialogue.meta["instructions"][0]["kwargs"] == {"relation": "at least", "num_words": 0}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"instruction_id_list": ["punctuation:no_full_stop"]}, "unknown instruction 'punctuation:no_full_stop'"),
        ({"instruction_id_list": [7]}, "unknown instruction 7"),
        ({"instruction_id_list": [["punctuation:no_comma"]]}, "unknown instruction ['punctuation:no_comma']"),
        ({"instruction_id_list": []}, "0 instructions with 1 kwargs"),
        ({"instruction_id_list": [], "kwargs": []}, "0 instructions with 0 kwargs"),
        ({"kwargs": [{}, {}]}, "1 instructions with 2 kwargs"),
        ({"kwargs": ["{}"]}, "the kwargs of punctuation:no_comma are str"),
        ({"kwargs": None}, "column 'kwargs': None is not of type list"),
        ({"kwargs": [{"letter": "a"}]}, "the checker of punctuation:no_comma rejects {'letter': 'a'}"),
        ({"instruction_id_list": [WORDS["id"]], "kwargs": [{"num_words": 3}]}, "number_words lacks relation"),
        ({"instruction_id_list": [WORDS["id"]], "kwargs": [None]}, "number_words lacks num_words, relation"),
        (
            {"instruction_id_list": [WORDS["id"]], "kwargs": [{"num_words": 3, "relation": "around"}]},
            "rejects {'num_words': 3, 'relation': 'around'}: The supported relation",
        ),
        ({"key": 0}, "line 2: its key is already at"),
        ({"prompt": None}, "column 'prompt': None is not of type str"),
    ],
)
def test_a_faulty_row_names_its_line(load: Any, change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        load({}, change)
    assert "toy.jsonl line 2" in str(caught.value) and complaint in str(caught.value)


@pytest.mark.parametrize("text", ["", " \n", "<think>no end, no answer", "<think>all of it</think>"])
def test_an_empty_answer_fails_every_instruction(nltk_data: None, text: str) -> None:
    dialogue = answered(text, NO_COMMA, WORDS, FRENCH)
    assert verdicts(dialogue) == [FAIL] * 3
    assert ifeval.check(dialogue) is False


def test_an_unknown_instruction_is_an_error_even_if_the_rest_is_followed(nltk_data: None) -> None:
    with pytest.raises(ValueError, match="unknown instruction 'x:y'"):
        verdicts(answered("Fine.", NO_COMMA, {"id": "x:y", "kwargs": {}}))


def test_a_text_on_which_a_checker_raises_fails(nltk_data: None, caplog: pytest.LogCaptureFixture) -> None:
    dialogue = answered("...", {"id": "format:quote_unquote", "kwargs": {}}, task="ifbench")
    assert verdicts(dialogue) == [FAIL]
    assert "format:quote_unquote raised on a text of 3 characters" in caplog.text


def test_an_answer_is_not_logged_by_a_checker(nltk_data: None, caplog: pytest.LogCaptureFixture) -> None:
    """A checker that detects no language would log the full text on the root logger."""
    language = {"id": "language:response_language", "kwargs": {"language": "de"}}
    assert verdicts(answered("4711", language)) == [Verdict(True, True)]
    assert caplog.text == ""


def test_strict_takes_the_text_and_loose_any_variant_of_it(nltk_data: None) -> None:
    assert verdicts(answered("Sure, here it is:\nSo short", WORDS, NO_COMMA)) == [Verdict(False, True)] * 2
    assert ifeval.check(answered("Sure, here:\nSo short", WORDS)) is False
    assert ifbench.check(
        answered("1. One.\n2. Two? 3. Yes", {"id": "ratio:sentence_type", "kwargs": {}}, task="ifbench")
    )


def test_reasoning_is_not_graded(nltk_data: None) -> None:
    message = Message("assistant", "So short", "model", "stop", reasoning="First, I think, then, I say, at length")
    asked = answered("", WORDS, NO_COMMA)
    dialogue = Dialogue("ifeval", (asked.messages[0], message), meta=asked.meta)
    assert verdicts(dialogue) == [PASS, PASS]


def test_the_user_turn_after_the_answer_changes_nothing(nltk_data: None) -> None:
    repeat = {"id": "combination:repeat_prompt", "kwargs": {"prompt_to_repeat": "Write."}}
    dialogue = answered("Write. Done", repeat)
    assert verdicts(dialogue.says(Message("user", "Why?", "model"))) == verdicts(dialogue) == [PASS]


def test_grading_is_deterministic_in_any_order_and_restores_random_state(nltk_data: None) -> None:
    texts = ["Oui # chat", "ja hij is zo", "the le la a", "qqq xyz # vw", "Hund und cat et chien"]
    dialogues = [answered(text, HASHES, FRENCH) for text in texts * 4]
    random.seed(7)
    langdetect.DetectorFactory.seed = None
    state = random.getstate()
    forward = [verdicts(dialogue) for dialogue in dialogues]
    assert random.getstate() == state and langdetect.DetectorFactory.seed is None
    random.seed(8)
    backward = [verdicts(dialogue) for dialogue in reversed(dialogues)]
    assert forward == backward[::-1]
    assert forward[:5] == forward[5:10]


def test_importing_the_checkers_downloads_nothing(data_dir: Path, nltk_data: None) -> None:
    code = f"""
import nltk, socket
def refuse(*a, **k): raise SystemExit("network")
socket.socket.connect = socket.getaddrinfo = nltk.downloader.urlopen = refuse
nltk.data.path[:] = [{str(data_dir / "nltk_data")!r}]
find = nltk.data.find
def without_punkt(path, *rest, **named):
    if path == "tokenizers/punkt": raise LookupError(path)
    return find(path, *rest, **named)
nltk.data.find = without_punkt
from eval.grading.instruction_following import _registry
print(len(_registry("ifeval", False)), len(_registry("ifbench", True)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, "network" in done.stderr) == ("25 58\n", False)


@pytest.mark.parametrize(
    ("task", "fixture", "excluded"),
    [(ifeval, "ifeval/parity_gpt4_540.jsonl", DRAWN_LETTERS), (ifbench, "ifbench/parity_sample_293.jsonl", set())],
)
def test_verdicts_equal_the_reference_ones(
    data_dir: Path, nltk_data: None, task: Any, fixture: str, excluded: set[str]
) -> None:
    prompts = {dialogue.meta["key"]: dialogue for dialogue in task.load(data_dir=data_dir)}
    differences, instructions = {"strict": 0, "loose": 0}, 0
    start = time.perf_counter()
    for line in (data_dir / fixture).read_text("utf-8").splitlines():
        row = json.loads(line)
        if str(row["key"]) in excluded:
            continue
        graded = verdicts(prompts[str(row["key"])].says(Message("assistant", row["response"], "reference", "stop")))
        assert graded is not None
        for kind in differences:
            differences[kind] += sum(
                getattr(ours, kind) is not theirs for ours, theirs in zip(graded, row[kind], strict=True)
            )
        assert all(verdict.loose >= verdict.strict for verdict in graded)
        instructions += len(graded)
    print(f"{fixture}: {instructions} instructions graded in {time.perf_counter() - start:.1f} s")
    assert instructions > 150 and differences == {"strict": 0, "loose": 0}


@pytest.mark.parametrize(("task", "rows", "instructions", "kinds"), [(ifeval, 541, 834, 25), (ifbench, 300, 344, 58)])
def test_every_real_row_is_read_and_every_checker_can_fail(
    data_dir: Path, nltk_data: None, task: Any, rows: int, instructions: int, kinds: int
) -> None:
    dialogues = task.load(data_dir=data_dir)
    assert len(dialogues) == len({dialogue.id for dialogue in dialogues}) == rows
    assert sum(len(dialogue.meta["instructions"]) for dialogue in dialogues) == instructions
    failed: dict[str, bool] = {}
    for dialogue in dialogues:
        names = [each["id"] for each in dialogue.meta["instructions"]]
        for text in JUNK if not all(map(failed.get, names)) else ():
            graded = verdicts(dialogue.says(Message("assistant", text, "model", "stop")))
            for name, verdict in zip(names, graded or [], strict=True):
                failed[name] = failed.get(name, False) or not verdict.strict
    assert len(failed) == kinds
    assert [name for name, fails in failed.items() if not fails] == []
