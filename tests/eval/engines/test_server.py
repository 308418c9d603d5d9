"""The engine over a real HTTP server returns the ids of the model itself under server and network faults."""

from __future__ import annotations

import os
import random
import runpy
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain, cycle, repeat
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling
from eval.engines import server, transformers
from eval.probe import main
from eval.rows import read_rows

SCRIPT = Path(__file__).with_name("completions_server.py")
CompletionsServer = runpy.run_path(str(SCRIPT))["CompletionsServer"]

STOP = frozenset(range(0, 400, 12))
GREEDY = Sampling(max_tokens=12)
SAMPLED = Sampling(max_tokens=12, temperature=1.0, top_p=0.9, top_k=40)


@pytest.fixture(scope="module")
def here(tiny_model: Path) -> transformers.Engine:
    return transformers.Engine(tiny_model, device="cpu")


@pytest.fixture(scope="module")
def prompts(here: transformers.Engine) -> list[Prompt]:
    draw = random.Random(0)
    lengths = [draw.randint(1, 30) for _ in range(20)]
    ids = [[draw.randrange(here.vocabulary) for _ in range(length)] for length in lengths]
    return [Prompt(f"p{number}", each, 2**63 + number) for number, each in enumerate(ids)]


@pytest.fixture(scope="module")
def expected(here: transformers.Engine, prompts: list[Prompt]) -> dict[str, Any]:
    made = dict(here.generate(prompts, GREEDY, STOP))
    assert {result.finish for result in made.values() if isinstance(result, Completion)} == {"stop", "length"}
    return made


@contextmanager
def serving(here: transformers.Engine, schedule: Any = (), **options: Any) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """A server, and a factory of engines on it with short timeouts."""
    with CompletionsServer(here, schedule, **options) as served:

        def engine(**more: Any) -> server.Engine:
            given = {"attempt_s": 60.0, "patience_s": 120.0, "dtype": "float32", "concurrency": 4, **more}
            return server.Engine(here.folder, base_url=served.url, **given)

        yield served, engine


def test_ids_are_those_of_the_model(here: transformers.Engine, prompts: list[Prompt], expected: dict) -> None:
    with serving(here) as (served, engine):
        assert dict(engine().generate(prompts, GREEDY, STOP)) == expected
        assert dict(engine(ids_from="logprobs").generate(prompts, GREEDY, STOP)) == expected
        low = [Prompt(prompt.key, prompt.ids, prompt.seed - 2**63) for prompt in prompts]
        assert dict(engine().generate(prompts, SAMPLED, STOP)) == dict(here.generate(low, SAMPLED, STOP))
    assert 1 < served.most_running <= 4
    body = served.requests[0]
    assert body["ignore_eos"] and not body["skip_special_tokens"] and body["stop_token_ids"] == sorted(STOP)
    every = {"temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty"}
    assert every <= body.keys() and body["model"] == "tiny"


@pytest.mark.parametrize(
    "fault", ["429", "429_after", "500", "503_after", "reset", "short", "hang", "half_json", "html"]
)
def test_transient_errors_are_retried(
    here: transformers.Engine, prompts: list[Prompt], expected: dict, fault: str
) -> None:
    schedule = chain(["ok", fault, fault], ["slow", "ok"] * 3, [fault], repeat("ok"))
    with serving(here, schedule) as (served, engine):
        attempt_s = 1.0 if fault == "hang" else 60.0
        assert dict(engine(attempt_s=attempt_s).generate(prompts, GREEDY, STOP)) == expected
    assert served.served[fault] == 3


def test_a_rejected_prompt_fails_only_its_own_row(
    here: transformers.Engine, prompts: list[Prompt], expected: dict
) -> None:
    with serving(here, chain(["ok", "400"], repeat("ok"))) as (_, engine):
        made = dict(engine(concurrency=1).generate(prompts, GREEDY, STOP))
    failed = {key: result for key, result in made.items() if isinstance(result, Failure)}
    assert [failure.kind for failure in failed.values()] == ["http_400"]
    assert {**made, **{key: expected[key] for key in failed}} == expected


def test_prompts_without_tokens_or_room_are_not_sent(here: transformers.Engine) -> None:
    bad = [Prompt("empty", [], 0), Prompt("long", [1] * 2040, 0)]
    with serving(here) as (served, engine):
        found = dict(engine().generate([*bad, Prompt("good", [1], 0), *bad], GREEDY, STOP))
        served.models[0]["max_model_len"] = 20
        short = dict(engine().generate([Prompt("good", [1], 0), Prompt("long", [1] * 9, 0)], GREEDY, STOP))
    assert [getattr(found[key], "kind", None) for key in ("empty", "long")] == ["empty_prompt", "context_too_long"]
    assert getattr(short["long"], "kind", None) == "context_too_long"
    assert len(served.requests) == 2


def test_several_completions_of_a_prompt_are_one_request(here: transformers.Engine, prompts: list[Prompt]) -> None:
    with serving(here) as (served, engine):
        completions = dict(engine().generate_n(prompts, SAMPLED, STOP, 3, log_probs=True))
        with pytest.raises(ConfigError, match="greedy completions of one prompt are identical"):
            dict(engine().generate_n(prompts, GREEDY, STOP, 3))
    assert len(served.requests) == len(prompts)
    for prompt in prompts:
        single = [Prompt(str(index), prompt.ids, prompt.seed - 2**63 + index) for index in range(3)]
        alone = dict(here.generate(single, SAMPLED, STOP))
        each = completions[prompt.key]
        assert [made.ids for made in each] == [alone[str(index)].ids for index in range(3)]
        assert all(made.log_probs == tuple(-1.0 - i for i in range(len(made.ids))) for made in each)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"token_ids": [1, 2, 3], "finish_reason": "stop"}, r"ignores `stop_token_ids`"),
        ({"token_ids": [1, 2, 3], "finish_reason": "length"}, r"after 3 of 12 tokens.*ignores"),
        ({"token_ids": [0, 12], "finish_reason": "stop"}, r"ignores"),
        ({"prompt_token_ids": [1, 1]}, r"changed the prompt"),
    ],
)
def test_a_server_that_does_not_follow_the_request_stops_the_run(
    here: transformers.Engine, spoil: dict, message: str
) -> None:
    with serving(here, spoil=spoil) as (_, engine), pytest.raises(ConfigError, match=message):
        dict(engine().generate([Prompt("p", [7], 0)], GREEDY, STOP))


def test_a_server_without_ids_stops_the_run(here: transformers.Engine, prompts: list[Prompt]) -> None:
    with (
        serving(here, spoil={"token_ids": None}) as (_, engine),
        pytest.raises(ConfigError, match=r"returns no token ids"),
    ):
        dict(engine().generate(prompts, GREEDY, STOP))


def test_an_unknown_finish_reason_is_a_failure(here: transformers.Engine) -> None:
    with serving(here, spoil={"finish_reason": "abort"}) as (_, engine):
        [(_, result)] = engine().generate([Prompt("p", [7], 0)], GREEDY, STOP)
    assert isinstance(result, Failure) and result.kind == "finish_abort"


def test_an_unknown_or_ambiguous_model_is_reported(here: transformers.Engine) -> None:
    with serving(here) as (served, engine):
        with pytest.raises(ConfigError, match=r"has no 'other'; it serves tiny"):
            list(engine(served_model="other").generate([Prompt("p", [7], 0)], GREEDY, STOP))
        served.models = [{"id": "a"}, {"id": "b"}]
        with pytest.raises(ConfigError, match=r"serves a, b; name one: --engine.served_model"):
            list(engine().generate([Prompt("p", [7], 0)], GREEDY, STOP))
        assert list(engine(served_model="b").generate([Prompt("p", [7], 0)], GREEDY, STOP))
    with pytest.raises(ConfigError, match=r"no list of models at .*is the server up\?"):
        list(engine().generate([Prompt("p", [7], 0)], GREEDY, STOP))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "http://h/v1"}, r"set the precision that http://h/v1 computes in"),
        ({"base_url": "http://h/v1", "dtype": "fp8", "vllm": {"seed": 1}}, r"already running"),
        ({"base_url": "h", "dtype": "fp8"}, r"not a server's URL"),
        ({"concurrency": 0}, r"at least 1"),
        ({"vllm": {"generation_config": "auto"}}, r"engine.vllm.generation_config can't be set"),
    ],
)
def test_invalid_settings_are_rejected_before_anything_starts(
    here: transformers.Engine, options: dict, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        server.Engine(here.folder, **options)


def test_a_given_server_that_goes_away_ends_the_run(here: transformers.Engine, prompts: list[Prompt]) -> None:
    with serving(here) as (_, engine):
        made = engine(patience_s=1.0, concurrency=1).generate(cycle(prompts[:2]), GREEDY, STOP)
        next(made)
    with pytest.raises(ConfigError, match=r"no longer answers .*run again when it is back"):
        list(made)


def own(here: transformers.Engine, **options: Any) -> server.Engine:
    return server.Engine(here.folder, program=f"{sys.executable} {SCRIPT} serve", **{"start_s": 120.0, **options})


def gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_server_is_started_on_first_use_and_stopped_with_the_engine(
    here: transformers.Engine, prompts: list[Prompt], expected: dict
) -> None:
    engine = own(here, vllm={"enforce_eager": True, "max_model_len": 512}, prefix_caching=False)
    assert list(engine.generate([Prompt("empty", [], 0)], GREEDY, STOP)) and engine._process is None
    assert dict(engine.generate(prompts, GREEDY, STOP)) == expected
    assert engine.max_context == 512
    output = engine._process.tail()
    for flags in ("--generation-config vllm", "--no-enable-prefix-caching", "--enforce-eager", "--dtype float32"):
        assert flags in output
    pid = engine._process._process.pid
    assert not gone(pid)
    del engine
    assert gone(pid)


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("dies:3", r"(?s)the server has exited \(exit status 7\); finished rows are kept.*out of memory"),
        ("silent", r"(?s)the server was not up after 1 s.*starting as serve"),
        ("old", r"vLLM 0\.10\.0 is outside"),
    ],
)
def test_a_started_server_that_fails_ends_the_run(
    here: transformers.Engine, prompts: list[Prompt], monkeypatch: pytest.MonkeyPatch, mode: str, message: str
) -> None:
    monkeypatch.setenv("USERTURN_TEST_SERVER", mode)
    engine = own(here, start_s=1.0 if mode == "silent" else 120.0, concurrency=1)
    with pytest.raises(ConfigError, match=message):
        list(engine.generate(prompts, GREEDY, STOP))


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed here")
def test_without_vllm_and_program_the_error_says_how_to_install_it(here: transformers.Engine) -> None:
    with pytest.raises(ConfigError, match=r"vLLM is not installed here"):
        list(server.Engine(here.folder).generate([Prompt("p", [7], 0)], GREEDY, STOP))


def test_a_missing_program_is_named_in_the_error(here: transformers.Engine) -> None:
    engine = server.Engine(here.folder, program="no-such-program serve")
    with pytest.raises(ConfigError, match=r"can't start no-such-program .*set engine\.program"):
        list(engine.generate([Prompt("p", [7], 0)], GREEDY, STOP))


def test_a_probe_resumes_where_its_server_died(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_probe(folder: Path, engine: dict[str, Any]) -> int:
        config = {
            "model": str(tiny_model),
            "format": "smollm2",
            "engine": engine,
            "judge": "grounding",
            "answers": {"max_tokens": 6},
            "sampling": {"max_tokens": 5},
            "tasks": {"pocket": {"limit": 3}},
            "run_dir": str(folder),
        }
        path = tmp_path / "probe.yaml"
        path.write_text(yaml.safe_dump(config))
        return main(["--config", str(path)])

    ours = {"name": "server", "program": f"{sys.executable} {SCRIPT} serve", "dtype": "float32", "concurrency": 1}
    run = tmp_path / "run"
    monkeypatch.setenv("USERTURN_TEST_SERVER", "dies:4")
    assert run_probe(run, ours) == 2
    assert "the server has exited (exit status 7); finished rows are kept" in capsys.readouterr().err
    kept = (run / "turns.jsonl").read_bytes()
    assert kept.count(b"\n") >= 3 and not (run / "summary.json").exists(), "rows answered before it died are kept"
    monkeypatch.delenv("USERTURN_TEST_SERVER")
    assert run_probe(run, ours) == 0
    assert (run / "turns.jsonl").read_bytes().startswith(kept)
    assert run_probe(tmp_path / "here", {"name": "transformers", "device": "cpu"}) == 0
    rows = [{row.id: row.to_json() for row in read_rows(folder / "rows.jsonl")} for folder in (run, tmp_path / "here")]
    assert rows[0] == rows[1]


@pytest.mark.skipif(sys.platform != "linux", reason="a death signal is Linux's")
def test_a_killed_run_leaves_no_server_behind(here: transformers.Engine, tmp_path: Path) -> None:
    code = f"""
import time
from eval.engines.server import Engine
engine = Engine({str(here.folder)!r}, program={shlex.join([sys.executable, str(SCRIPT), "serve"])!r}, start_s=120)
engine.served
print(engine._process._process.pid, flush=True)
time.sleep(3600)
"""
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    pid = int(run.stdout.readline())
    assert not gone(pid)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    while not gone(pid):
        time.sleep(0.05)
