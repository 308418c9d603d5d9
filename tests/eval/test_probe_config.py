"""What a probe accepts: plugins by name or with options, each option checked against what the plugin takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.command_line import load
from eval.config import ConfigError, dump
from eval.probe_config import ProbeConfig


def parse(tmp_path: Path, text: str, *argv: str) -> ProbeConfig:
    path = tmp_path / "probe.yaml"
    path.write_text(f"model: m\nrun_dir: runs/x\ntasks: {{pocket: {{}}}}\n{text}\n")
    return load(ProbeConfig, ["--config", str(path), *argv], prog="probe", about="")


@pytest.mark.parametrize(
    ("written", "argv", "options"),
    [
        ("format: harmony", (), {}),
        ("format: {name: harmony, reasoning_effort: high}", (), {"reasoning_effort": "high"}),
        ("format: harmony", ("--format.reasoning-effort", "high"), {"reasoning_effort": "high"}),
        ("format: smollm2", ("--format", "harmony", "--format.reasoning-effort=low"), {"reasoning_effort": "low"}),
        ("format: {name: qwen3_5, thinking: true}", ("--format", "harmony"), {}),
    ],
)
def test_a_format_may_stand_alone_or_with_its_options(tmp_path: Path, written: str, argv, options) -> None:
    config = parse(tmp_path, written, *argv)
    assert (config.format.name, config.format.options) == ("harmony", options)
    again = tmp_path / "again.yaml"
    again.write_text(dump(config))
    assert load(ProbeConfig, ["--config", str(again)], prog="probe", about="") == config


def test_options_have_their_types(tmp_path: Path) -> None:
    assert parse(tmp_path, "format: qwen3_5", "--format.thinking", "true").format.options == {"thinking": True}
    config = parse(tmp_path, "format: smollm2\nengine: transformers\njudge: local")
    assert (config.engine.name, config.judge.name) == ("transformers", "local")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("format: chatml", r"no eval/formats/chatml\.py; eval/formats has glm, harmony, qwen3_5, smollm2"),
        ("format: {name: smollm2, thinking: true}", "unknown key 'thinking' in format"),
        ("format: {name: harmony, reasoning_efort: low}", "Did you mean reasoning_effort"),
        (
            "format: {name: harmony, reasoning_effort: none}",
            "format.reasoning_effort = 'none'.*'low', 'medium' or 'high'",
        ),
        ("format: {name: qwen3_5, thinking: perhaps}", "format.thinking = 'perhaps'"),
        ("format: {name: qwen3_5, history: as_last}", "unknown key 'history' in format; known are thinking"),
        ("format: {reasoning_effort: high}", "format.name is not set"),
        ("judge: nobody\nformat: smollm2", "no eval/judges/nobody"),
    ],
)
def test_what_a_plugin_does_not_take_is_named(tmp_path: Path, written: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse(tmp_path, written)
