"""The command that reviews: it begins, goes on after a kill, exports, compares, and says what it cannot do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from eval.gold import read_gold
from eval.review import main
from eval.review_bench.store import ReviewStore
from eval.rows import RowStore

MakeRun = Callable[..., Path]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, str | None, int]]:
    """What would have been served: (store, reviewer, port), instead of serving it."""
    calls: list[tuple[Path, str | None, int]] = []
    monkeypatch.setattr(
        "eval.review_bench.serving.serve", lambda store, annotator, port: calls.append((store.path, annotator, port))
    )
    return calls


@contextmanager
def bench(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, with its address; killed in the end."""
    command = [sys.executable, "-m", "eval.review", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = next((line.strip() for line in process.stdout if line.startswith("http://")), None)
            assert address, process.stderr and process.stderr.read()
            yield process, address
        finally:
            process.kill()


@pytest.mark.integration
def test_what_was_decided_before_a_kill_is_there_after_it(make_run: MakeRun, rows_of: Any, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="no uvicorn; run `make setup`")
    run = make_run("run", rows_of("gsm8k", 4, 2))
    decided = []
    for position, label in ((1, "other"), (2, "meta_planning")):
        with bench(str(run), "--sample", "all", "--annotator", "Ada") as (process, address):
            origin = "/".join(address.split("/")[:3])
            client = httpx2.Client(headers={"Origin": origin}, follow_redirects=True, trust_env=False)
            item = str(client.get(address).url)
            assert item.endswith(f"/by/Ada/{position}"), "it goes on where it stopped"
            client.post(item, data={"genuine": "no", "seconds": "3"})
            answer = client.post(item, data={"label": label, "seconds": "4"})
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
            assert str(answer.url).endswith(f"/by/Ada/{position + 1}")
            decided.append((label, False, 7.0))
        with ReviewStore(run / "review.sqlite") as store:
            found = store.decisions("Ada")
        assert [(d.label, d.genuine, d.seconds) for d in found.values()] == decided
    assert main([str(run), "--export", str(tmp_path / "gold.jsonl")]) == 0
    assert [item.label for item in read_gold(tmp_path / "gold.jsonl")] == ["other", "meta_planning"]


@pytest.mark.integration
def test_ctrl_c_ends_it_and_says_that_nothing_is_lost(make_run: MakeRun, rows_of: Any) -> None:
    pytest.importorskip("uvicorn", reason="no uvicorn; run `make setup`")
    with bench(str(make_run("run", rows_of("gsm8k", 2, 1)))) as (process, address):
        assert httpx2.get(address, trust_env=False).status_code == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130 and "every decision is saved" in errors and "Traceback" not in errors


def test_it_begins_once_and_then_goes_on(make_run: MakeRun, rows_of: Any, served: list[Any], capsys: Any) -> None:
    run = make_run("run", rows_of("gsm8k", 6, 2))
    assert main([str(run), "--sample", "balanced:4", "--seed", "3", "--annotator", " Ada ", "--port", "8001"]) == 0
    assert "4 of 6 distinct user turns" in capsys.readouterr().out
    assert main([str(run)]) == main(["--store", str(run / "review.sqlite")]) == 0
    path = run / "review.sqlite"
    assert served == [(path, "Ada", 8001), (path, None, 0), (path, None, 0)] and capsys.readouterr().out == ""
    with ReviewStore(path) as store:
        assert store.count == 4 and store.protocol == {"sample": "balanced:4", "seed": 3, "gated": False}


def test_another_sample_or_other_runs_are_not_mixed_in(
    make_run: MakeRun, rows_of: Any, row_of: Any, served: list[Any], capsys: Any, tmp_path: Path
) -> None:
    run, other = make_run("run", rows_of("gsm8k", 6, 2)), make_run("other", rows_of("ifbench", 3, 1), model="b@1")
    assert main([str(run), "--sample", "random:3"]) == 0
    for arguments in ([str(run), "--sample", "random:4"], [str(run), "--seed", "1"], [str(run), str(other)]):
        assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert "holds a review with --sample random:3" in errors and "--seed 0" in errors and "other runs" in errors
    with RowStore(run / "rows.jsonl") as rows:
        rows.append("new", row_of("gsm8k", 99, turn="Another one?"))
    assert main([str(run)]) == 2
    assert main([str(run), str(other), "--sample", "all", "--store", str(tmp_path / "new.sqlite")]) == 0
    assert [call[0] for call in served] == [run / "review.sqlite", tmp_path / "new.sqlite"]


def test_agreement_is_printed(make_run: MakeRun, rows_of: Any, served: list[Any], capsys: Any) -> None:
    run = make_run("run", rows_of("gsm8k", 4, 2))
    main([str(run), "--sample", "all"])
    with ReviewStore(run / "review.sqlite") as store:
        for position, item in store.items():
            store.record("Ada", position, genuine=item.judgements[0].genuine)
            store.record("Ada", position, label=item.judgements[0].label)
    capsys.readouterr()
    assert main([str(run), "--agreement"]) == 0
    printed = capsys.readouterr().out
    assert "Ada / local-1" in printed and "1.000" in printed and "4 of 4 items decided completely" in printed


def test_what_cannot_work_is_said(make_run: MakeRun, rows_of: Any, capsys: Any, tmp_path: Path) -> None:
    run = make_run("run", rows_of("gsm8k", 2, 1))
    cases = {
        (): "give the folder",
        (str(run), "--export", "x.jsonl"): "start one with",
        ("--store", str(tmp_path / "none.sqlite")): "start one with",
        (str(run), "--sample", "half"): "is not a valid sample",
        (str(run), "--annotator", "a/b"): "is not a valid name",
        (str(tmp_path / "nowhere"),): "no run folder",
        (str(run), "--store", "/proc/review.sqlite"): "choose another --store",
    }
    for arguments, said in cases.items():
        assert main(list(arguments)) == 2
        errors = capsys.readouterr().err
        assert errors.startswith("error: ") and said in errors, errors
    assert not (run / "review.sqlite").exists() and not Path("x.jsonl").exists()


def test_help_needs_no_server(repository: Path) -> None:
    code = "import sys, json; from eval.review import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print(json.dumps([name for name in ('starlette', 'uvicorn', 'sklearn', 'jinja2') if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == [] and "balanced:200" in done.stdout
