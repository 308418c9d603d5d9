from __future__ import annotations

import json
import math
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from eval import agreement
from eval.agreement import main
from eval.dialogue import Failure, Judgement
from eval.gold import read_gold
from eval.judges.local import Judge
from eval.rater_agreement import compare, judge_items, kappa, percent_agreement

JudgeServer = runpy.run_path(str(Path(__file__).parent / "client" / "judge_server.py"))["JudgeServer"]
ROWS = [
    {
        "task": "garden",
        "source": "written",
        "temperature": None,
        "messages": [
            {"role": "user", "content": "When do I prune a young cherry tree?"},
            {
                "role": "assistant",
                "content": "In late summer, because silver leaf spreads through cuts made in winter.",
            },
        ],
        "user_turn": "What is silver leaf, and how would I notice it?",
        "label": "genuine_followup",
        "genuine": True,
    },
    {
        "task": "garden",
        "source": "model",
        "temperature": 0.7,
        "messages": [
            {"role": "user", "content": "How deep do I plant garlic?"},
            {"role": "assistant", "content": "About five centimetres, the pointed end up."},
        ],
        "user_turn": "How deep do I plant garlic?",
        "label": "previous_turn_restate",
        "genuine": False,
    },
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_two_raters_who_agree_on_the_majority_class_only_are_worse_than_chance():
    first = [True] * 18 + [False, True]
    second = [True] * 18 + [True, False]
    assert percent_agreement(first, second) == pytest.approx(0.9)
    assert kappa(first, second) == pytest.approx(-1 / 19)


def test_kappa_is_undefined_when_both_raters_say_one_thing_and_zero_when_one_does():
    assert kappa([True] * 5, [True] * 5) is None
    assert kappa([], []) is None
    assert kappa([True] * 5, [True, False, True, True, False]) == 0
    assert kappa([True] * 5, [False] * 5) == 0


def test_kappa_reaches_its_ends():
    assert kappa(["a", "b", "c"], ["a", "b", "c"]) == 1
    assert kappa([True, False], [False, True]) == -1


def test_raters_of_different_numbers_of_items_are_an_error():
    with pytest.raises(ValueError, match="2 items"):
        kappa([1, 2], [1])


def test_unjudged_items_are_counted_and_leave_the_figures(tmp_path):
    items = read_gold(write(tmp_path / "gold.jsonl", [*ROWS, *ROWS]))
    right = [Judgement(item.label, item.genuine, "test") for item in items]
    report = compare(items, [*right[:3], Failure("judge", "timeout")])
    assert (report["n"], report["unjudged"]) == (4, 1)
    assert report["binary"]["kappa"] == 1
    assert report["slices"]["source"]["model"]["unjudged"] == 1
    assert report["slices"]["temperature"]["0.7"]["n"] == 2
    assert report["binary"]["prevalence"]["gold"] == pytest.approx(2 / 3)
    assert report["confusion"]["genuine_followup"] == {"genuine_followup": 2}


def test_an_undefined_kappa_is_null_with_its_reason(tmp_path):
    items = read_gold(write(tmp_path / "gold.jsonl", ROWS))
    report = compare(items, [Judgement(i.label, i.genuine, "test") for i in items])
    only = report["slices"]["label"]["genuine_followup"]["binary"]
    assert only["kappa"] is None
    assert "always say True" in only["why"]
    assert report["slices"]["label"]["genuine_followup"]["label"]["agreement"] == 1


def test_nothing_judged_is_no_score(tmp_path):
    items = read_gold(write(tmp_path / "gold.jsonl", ROWS))
    report = compare(items, [Failure("judge", "timeout")] * 2)
    assert report["unjudged"] == 2
    assert report["binary"] == {"kappa": None, "agreement": None, "why": "nothing judged"}


class Backwards:
    id = "backwards"

    def judge(self, dialogues):
        for dialogue in reversed(list(dialogues)[1:]):
            yield dialogue, Judgement("other", False, self.id)


def test_results_are_matched_by_item_and_a_missing_one_is_a_failure(tmp_path):
    items = read_gold(write(tmp_path / "gold.jsonl", ROWS))
    first, second = judge_items(items, Backwards())
    assert isinstance(first, Failure)
    assert isinstance(second, Judgement)


def test_json_holds_the_promised_fields_and_no_nan(tmp_path, capsys):
    path = write(tmp_path / "gold.jsonl", ROWS)
    assert main(["--gold", str(path), "--judge", "local", "--json"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert report["n"] == 2
    assert report["unjudged"] == 0
    assert {"kappa", "agreement"} <= set(report["binary"]) & set(report["label"])
    assert set(report["slices"]) == {"task", "source", "temperature", "label", "drawn"}
    assert report["judge"] == Judge().id
    assert report["fitted_share"] == 0.0
    assert all(math.isfinite(value) for value in report["binary"]["prevalence"].values())


def test_the_table_shows_every_slice_and_the_confusion(tmp_path, capsys):
    path = write(tmp_path / "gold.jsonl", ROWS)
    assert main(["--gold", str(path), "--judge", "local"]) == 0
    shown = capsys.readouterr().out
    assert "n = 2, unjudged = 0" in shown
    assert "task: garden" in shown
    assert "Labels: rows as labelled, columns as judged" in shown
    assert "CAUTION" not in shown


@pytest.mark.parametrize("text", ["[/red]", "[bold]x", "a[link=http://x]b", "\x1b[31mred", "two\nlines", "\ud800"])
def test_text_of_the_gold_file_is_shown_and_never_run(tmp_path, capsys, text):
    path = write(tmp_path / "gold.jsonl", [{**ROWS[0], "source": text, "task": text}, ROWS[1]])
    assert main(["--gold", str(path), "--judge", "local"]) == 0
    shown = capsys.readouterr().out
    plain = " ".join(text.split()).replace("\x1b", "\ufffd").replace("\ud800", "\ufffd")
    assert f"source: {plain}" in shown and f"task: {plain}" in shown


def test_figures_on_fitting_data_come_with_a_caution(tmp_path, capsys, monkeypatch):
    path = write(tmp_path / "gold.jsonl", ROWS)
    monkeypatch.setattr(agreement, "fitted_share", lambda items, judge: 1.0)
    assert main(["--gold", str(path), "--judge", "local"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "this judge was FITTED on the queries of 100% of these items" in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "follow_up"}, "unknown label 'follow_up'; the labels are malformed_artifact"),
        ({"genuine": "yes"}, "`genuine` is 'yes', not true or false"),
        ({"genuine": 1}, "`genuine` is 1, not true or false"),
        ({"user_turn": None}, "not a string"),
        ({"messages": []}, "must end in an assistant message"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "must end in an assistant message"),
        ({"messages": [{"role": "judge", "content": "hi"}]}, "role 'judge'"),
        ({"messages": [{"role": "user"}]}, "field 'content' is missing"),
        ({"messages": ["hi"]}, "a message is an object"),
        ({"temperature": "warm"}, "`temperature` is 'warm'"),
        ({"weight": 0}, "`weight` is 0, not a positive number"),
        ({"weight": True}, "`weight` is True"),
        ({"judgements": {"j": {"label": "other", "genuine": 1}}}, "`genuine` of 'j' is 1"),
        ({"judgements": {"j": {"label": "great", "genuine": True}}}, "unknown label 'great'"),
        ({"judgements": ["j"]}, "has no attribute"),
    ],
)
def test_a_malformed_row_names_file_and_line(tmp_path, capsys, change, message):
    path = write(tmp_path / "gold.jsonl", [ROWS[0], {**ROWS[1], **change}])
    assert main(["--gold", str(path), "--judge", "local"]) == 2
    error = capsys.readouterr().err
    assert "gold.jsonl, line 2: " in error
    assert message in error


@pytest.mark.parametrize(
    ("text", "message"), [("{", "line 1"), ("[]\n", "a row is a JSON object"), ("\n", "no labelled")]
)
def test_a_file_that_is_no_gold_is_an_error(tmp_path, capsys, text, message):
    path = tmp_path / "gold.jsonl"
    path.write_text(text)
    assert main(["--gold", str(path), "--judge", "local"]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_file_and_an_unknown_judge_say_what_to_do(tmp_path, capsys):
    assert main(["--gold", str(tmp_path / "none.jsonl"), "--judge", "local"]) == 2
    assert "none.jsonl" in capsys.readouterr().err
    assert main(["--gold", str(write(tmp_path / "gold.jsonl", ROWS)), "--judge", "oracle"]) == 2
    assert "local" in capsys.readouterr().err


def test_a_judge_takes_its_options(tmp_path, capsys, monkeypatch):
    path = write(tmp_path / "gold.jsonl", ROWS)
    monkeypatch.delenv("MY_KEY", raising=False)
    with JudgeServer() as server:
        options = ["--judge.model", "judge-1", f"--judge.base_url={server.url}", "--judge.api_key_variable", "null"]
        command = ["--gold", str(path), *options, "--judge.cache", "null", "--judge", "openai", "--json"]
        assert main([*command, "--judge.max-completion-tokens", "77"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["judge"].startswith("openai-judge-1") and report["unjudged"] == 0
    assert [request["max_completion_tokens"] for request in server.requests] == [77, 77]
    assert {request["model"] for request in server.requests} == {"judge-1"}
    assert main([*command, "--judge.api_key_variable", "MY_KEY"]) == 2
    assert "MY_KEY is not set" in capsys.readouterr().err


def test_a_paid_judge_needs_a_bound(tmp_path, capsys):
    path = write(tmp_path / "gold.jsonl", ROWS)
    with JudgeServer() as server:
        options = [f"--judge.base_url={server.url}", "--judge.api_key_variable", "null", "--judge.cache", "null"]
        command = ["--gold", str(path), "--judge", "openai", "--judge.model", "gpt-5.4-nano", *options]
        assert main(command) == 2
        error = capsys.readouterr().err
        assert "has 2 user turns to judge, at most $" in error and "--judge.budget_usd 5" in error
        assert server.requests == []
        assert main([*command, "--judge.budget_usd", "5"]) == 0
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "openai", "--judge.modle", "m"], "unknown key 'modle' in judge; known are model, base_url"),
        (["--judge", "openai", "--judge.budget_usd", "much"], "judge.budget_usd = 'much'"),
        (["--judge", "local", "--judge.model", "m"], "unknown key 'model' in judge"),
        (["--judge", "local", "--golden", "x"], "unknown key 'golden'"),
        (["--judge", "local", "--cv", "--judge.abstain_below", "0.7"], "leave --judge.abstain_below out"),
        (["--judge", "local", "--judge.model"], "--judge.model needs a value"),
    ],
)
def test_an_option_that_the_judge_does_not_take_is_named(tmp_path, capsys, options, message):
    assert main(["--gold", str(write(tmp_path / "gold.jsonl", ROWS)), *options]) == 2
    assert message in capsys.readouterr().err


def test_too_few_queries_cannot_be_cross_validated(tmp_path, capsys):
    assert main(["--gold", str(write(tmp_path / "gold.jsonl", ROWS)), "--judge", "local", "--cv"]) == 2
    assert "2 different queries cannot be cross-validated" in capsys.readouterr().err


def test_help_needs_no_heavy_import():
    code = "import sys, runpy; sys.argv = ['agreement', '--help']\n"
    code += "try: runpy.run_module('eval.agreement', run_name='__main__')\nexcept SystemExit: pass\n"
    code += "print(sorted({'torch', 'sklearn', 'numpy', 'rich'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--gold" in done.stdout
    assert done.stderr.strip().endswith("[]")
