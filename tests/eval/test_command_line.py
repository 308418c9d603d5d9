"""YAML and command line into one configuration: which wins, how it is spelled, what is said of what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field, model_validator

from eval.command_line import load
from eval.config import Config, ConfigError, Plugin, dump


class Inner(Config):
    temperature: float = Field(0.0, ge=0, description="how random")
    seed: int = Field(3, description="which stream")


class Outer(Config):
    name: str = Field(description="what it is called")
    run_dir: Path = Field(Path("runs/x"), description="where 100 % of it goes")
    limit: int | None = Field(7, description="rows")
    temperatures: list[float] = Field([0.0], description="several")
    dry_run: bool = Field(False, description="a switch")
    mode: Literal["fast", "slow"] = Field("fast", description="how")
    sampling: Inner = Field(Inner(seed=9), description="nested")
    engine: Plugin = Field(Plugin(name="toy"), description="open")
    tasks: dict[str, dict[str, Any] | None] = Field(default={}, description="open")

    @model_validator(mode="after")
    def _no_contradiction(self) -> Outer:
        if self.mode == "slow" and self.limit is None:
            raise ValueError("mode slow needs a limit")
        return self


def parse(*argv: str) -> Outer:
    return load(Outer, list(argv), prog="toy", about="A toy.")


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: a\nlimit: 1\nsampling: {temperature: 0.5}\ntasks: {gsm8k: {limit: 5, split: train}, pocket: {}}\n"
    )
    argv = (
        "--run-dir runs/y --sampling.temperature 0.7 --tasks.gsm8k.limit 50 --tasks.pocket null --engine.batch-tokens=9"
    )
    config = parse("--config", str(path), *argv.split())
    assert config.run_dir == Path("runs/y")
    assert config.limit == 1
    assert config.sampling == Inner(temperature=0.7, seed=9)  # seed: the default of the field, not of its class
    assert config.tasks == {"gsm8k": {"limit": "50", "split": "train"}, "pocket": None}
    assert config.engine.name == "toy"
    assert config.engine.options == {"batch_tokens": "9"}


def test_a_configuration_of_another_command_is_refused_in_one_line(repository: Path) -> None:
    path = repository / "configs/demo/table2.yaml"
    with pytest.raises(ConfigError) as error:
        parse("--config", str(path))
    assert str(error.value) == f"{path} is a configuration of eval.sweep; run python -m eval.sweep --config {path}"


def test_unknown_keys_of_no_command_or_given_here_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("name: a\nmodls: {}\nprob: {}\n")
    with pytest.raises(ConfigError, match=r"(?s)unknown key 'modls'.*unknown key 'prob'"):
        parse("--config", str(path))
    path.write_text("name: a\n")
    with pytest.raises(ConfigError, match=r"(?s)unknown key 'models'.*unknown key 'base'"):
        parse("--config", str(path), "--models", "{}", "--base", "b")


@pytest.mark.parametrize("written", ["engine: vllm", "engine: {name: vllm}"])
def test_the_name_of_a_plugin_may_stand_alone_and_still_take_options(tmp_path: Path, written: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"name: a\n{written}\n")
    assert parse("--config", str(path)).engine == Plugin(name="vllm")
    config = parse("--config", str(path), "--engine.batch-tokens", "9")
    assert (config.engine.name, config.engine.options) == ("vllm", {"batch_tokens": "9"})
    for argv in (["--engine", "other", "--engine.a-b", "1"], ["--engine.a-b", "1", "--engine", "other"]):
        config = parse("--config", str(path), *argv)
        assert (config.engine.name, config.engine.options) == ("other", {"a_b": "1"})
    assert parse("--name", "a", "--engine.batch-tokens", "9").engine == Plugin(name="toy", batch_tokens="9")


def test_another_plugin_does_not_inherit_the_options_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("name: a\nengine: {name: vllm, shards: 2}\n")
    assert parse("--config", str(path), "--engine", "toy").engine == Plugin(name="toy")
    assert parse("--config", str(path), "--engine", "null", "--engine.name", "x").engine == Plugin(name="x")


@pytest.mark.parametrize("spelling", ["--run-dir=runs/y", "--run_dir=runs/y", "--run-dir runs/y"])
def test_hyphen_and_underscore_are_one(spelling: str) -> None:
    assert parse("--name=a", *spelling.split()).run_dir == Path("runs/y")


@pytest.mark.parametrize("spelling", ["smol-2", "smol_2"])
def test_a_key_of_the_file_is_met_in_either_spelling_and_with_its_dots(tmp_path: Path, spelling: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("name: a\ntasks: {smol-2: {limit: 1}, Qwen3.5-2B: {limit: 2}, Qwen3: {limit: 3}}\n")
    argv = [f"--tasks.{spelling}.limit=4", "--tasks.Qwen3.5-2B.new-option", "5", "--tasks.Qwen3.limit", "6"]
    assert parse("--config", str(path), *argv).tasks == {
        "smol-2": {"limit": "4"},
        "Qwen3.5-2B": {"limit": 2, "new_option": "5"},
        "Qwen3": {"limit": "6"},
    }
    assert parse("--config", str(path), "--tasks.Qwen3.5-2B", "null").tasks["Qwen3.5-2B"] is None
    assert "new_one" in parse("--config", str(path), "--tasks.new-one.limit", "5").tasks


def test_null_unsets() -> None:
    assert parse("--name", "a", "--limit", "null").limit is None


def test_a_list_is_written_as_in_yaml_and_a_switch_needs_no_value() -> None:
    config = parse("--name", "a", "--temperatures", "[0, 0.7]", "--dry-run")
    assert config.temperatures == [0.0, 0.7]
    assert config.dry_run
    assert not parse("--name", "a", "--dry-run", "false").dry_run


def test_a_value_may_hold_what_an_option_holds() -> None:
    assert parse("--name", "a_b=c-d").name == "a_b=c-d"
    assert parse("--name=--odd").name == "--odd"


def test_a_field_may_be_set_without_hyphens_as_job_files_do(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("name: a\nengine: vllm\ntasks: {gsm8k: {limit: 5}}\n")
    given = "limit=null run_dir=runs/y sampling.seed=4 --dry-run tasks.gsm8k.limit=50 engine.url=http://h/?a=b name=x=y"
    config = parse("--config", str(path), *given.split())
    assert config == parse("--config", str(path), *(f"--{word.removeprefix('--')}" for word in given.split()))
    assert (config.limit, config.run_dir, config.sampling.seed, config.dry_run) == (None, Path("runs/y"), 4, True)
    assert config.engine.options == {"url": "http://h/?a=b"} and config.name == "x=y"
    assert config.tasks == {"gsm8k": {"limit": "50"}}


def test_the_resolved_configuration_loads_back_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--name", "é", "--limit", "null", "--tasks.a.limit", "3"]
    with pytest.raises(SystemExit) as stopped:
        parse(*argv, "--print-config")
    assert stopped.value.code == 0
    path = tmp_path / "c.yaml"
    path.write_text(capsys.readouterr().out)
    assert parse("--config", str(path)) == parse(*argv)
    assert dump(parse("--config", str(path))) == path.read_text()


def test_help_names_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("--help")
    text = " ".join(capsys.readouterr().out.split())
    for word in (
        "--run-dir",
        "--sampling.temperature",
        "how random (default: 0.0)",
        "which stream (default: 9)",  # of the field, not of its class
        "--tasks.NAME.OPTION VALUE",
        "100 %",
        "--engine NAME",
        "open (default: toy)",
        "a NAME takes options: --field.option VALUE",
        "--print-config",
    ):
        assert word in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("--name a --nmae b", "unknown key 'nmae' in the configuration; known are name, .* Did you mean name"),
        ("--name a --sampling.temprature 1", "unknown key 'temprature' in sampling; known are temperature, seed"),
        ("--name a --sampling.temperature hot", "sampling.temperature = 'hot'"),
        ("--name a --sampling.temperature -1", "sampling.temperature = '-1'"),
        ("--name a --mode medium", "mode = 'medium'.*'fast' or 'slow'"),
        ("--name a --mode slow --limit null", "mode slow needs a limit"),
        ("--limit 3", "name is not set.*\nno --config was given; see configs/"),
        ("--name a stray", "unexpected argument 'stray'"),
        (
            "--name a limmit=3",
            "unexpected argument 'limmit=3'; write --some.field VALUE or some.field=VALUE; fields are name,",
        ),
        ("--name a --tasks.gsm8k.limit", "needs a value"),
        ("--name a --name.first b", "name is 'a', which has no fields"),
        ("--config nowhere.yaml", "no configuration nowhere.yaml"),
    ],
)
def test_errors_say_what_and_where(argv: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse(*argv.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not valid YAML"),
        ("- a\n- b\n", "holds a list"),
        ("name: a\nnmae: b\n", "unknown key"),
        ("name: {a: 1}", "name = "),
    ],
)
def test_a_bad_file_is_a_named_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        parse("--config", str(path))


def test_only_who_gave_no_file_is_sent_to_the_committed_ones(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("limit: 3\n")
    for argv, problem in ((["--config", str(path)], "name is not set"), (["--name", "a", "--limit", "x"], "limit = ")):
        with pytest.raises(ConfigError, match=problem) as error:
            parse(*argv)
        assert "configs/" not in str(error.value)


class WithAbsent(Config):
    inner: Inner | None = Field(None, description="may be left out")
    given: Inner | None = Field(Inner(), description="may be unset")


def test_a_part_that_may_be_absent_is_explained_field_by_field(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        load(WithAbsent, ["--help"], prog="toy", about="A toy.")
    told = capsys.readouterr().out
    assert "--inner null" in told and "--inner.temperature float" in told and "--given.seed int" in told
    config = load(WithAbsent, ["--inner.seed", "5", "--given", "null"], prog="toy", about="A toy.")
    assert config == WithAbsent(inner=Inner(seed=5), given=None)


def test_an_unknown_key_in_a_part_that_may_be_absent_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("inner: {sed: 1}\n")
    with pytest.raises(
        ConfigError, match=r"unknown key 'sed' in inner; known are temperature, seed\. Did you mean seed\?"
    ):
        load(WithAbsent, ["--config", str(path)], prog="toy", about="A toy.")
