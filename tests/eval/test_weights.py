"""Model folders: what must be in them, what identifies them, and names that are Hub ids."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from huggingface_hub.utils import filter_repo_objects

from eval.config import ConfigError
from eval.weights import Limits, model_digest, model_folder, model_id, model_limits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of a model; weights are opaque here."""
    path = tmp_path / "model"
    path.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        (path / name).write_text("{}")
    (path / "chat_template.jinja").write_text("{{ messages }}")
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def test_a_complete_folder_is_itself(folder: Path) -> None:
    assert model_folder(folder) == folder
    assert model_folder(str(folder)) == folder


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("config.json", "config.json"),
        ("model.safetensors", "weights"),
        ("tokenizer.json", "tokenizer"),
        ("chat_template.jinja", "chat template"),
    ],
)
def test_what_a_folder_lacks_is_named_with_the_remedy(folder: Path, file: str, what: str) -> None:
    (folder / file).unlink()
    with pytest.raises(ConfigError) as caught:
        model_folder(folder)
    for part in (str(folder), f"lacks {what}", "save_pretrained", "python -m eval.fetch_smollm2"):
        assert part in str(caught.value)


def test_an_empty_weight_file_is_no_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(ConfigError, match="lacks weights"):
        model_folder(folder)


def test_a_chat_template_may_be_in_the_tokenizer_configuration(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    assert model_folder(folder) == folder


def test_every_shard_of_the_index_must_be_there(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ConfigError, match=r"lacks shard model-2\.safetensors"):
        model_folder(folder)


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_damaged_configuration_file_is_named(folder: Path, content: str) -> None:
    (folder / "chat_template.jinja").unlink()
    (folder / "tokenizer_config.json").write_text(content)
    with pytest.raises(ConfigError, match=r"tokenizer_config\.json (is not JSON|holds a list)"):
        model_folder(folder)


@pytest.mark.parametrize("name", ["models/nothing-here", "./nothing", "/nowhere/model", "~/no-model", "a/b/c", "alone"])
def test_a_path_that_is_not_there_is_not_looked_up_on_the_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("asked the Hub"))
    with pytest.raises(ConfigError, match=r"no model folder .*fetch_smollm2"):
        model_folder(name)


def test_a_hub_id_is_downloaded_at_its_revision(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(hub_id: str, **options: object) -> str:
        asked.append((hub_id, options["revision"]))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert model_folder("Qwen/Qwen3.5-2B", "15852e8c16360a2fea060d615a32b45270f8a8fc") == folder
    assert asked == [("Qwen/Qwen3.5-2B", "15852e8c16360a2fea060d615a32b45270f8a8fc")]


def test_of_a_hub_repository_only_the_top_folder_is_downloaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = ["config.json", "model-1.safetensors", "tokenizer.json", "chat_template.jinja", "README.md"]
    copies = ["original/model.safetensors", "original/config.json", "metal/model.bin", "onnx/tokenizer.json"]
    wanted: list[str] = []

    def download(hub_id: str, *, revision: str | None, **patterns: list[str]) -> str:
        wanted.extend(filter_repo_objects([*there, *copies], **patterns))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    model_folder("openai/gpt-oss-20b")
    assert wanted == there[:-1]


def test_a_hub_that_does_not_answer_is_an_error_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError) as caught:
        model_folder("Nobody/has-this-model", "main")
    for part in ("no folder Nobody/has-this-model here", "at revision main", "network", "hf auth login"):
        assert part in str(caught.value)


def test_a_local_folder_has_no_revision(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"'main'.*drop it"):
        model_folder(folder, "main")


def test_the_digest_follows_content_and_not_place_or_date(folder: Path, tmp_path: Path) -> None:
    before = model_digest(folder)
    os.utime(folder / "model.safetensors", (0, 0))
    moved = folder.rename(tmp_path / "elsewhere")
    assert model_digest(moved) == before


@pytest.mark.parametrize(
    "file", ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"]
)
def test_the_digest_covers_what_decides_the_output(folder: Path, file: str) -> None:
    before = model_digest(folder)
    (folder / file).write_bytes((folder / file).read_bytes() + b" ")
    assert model_digest(folder) != before


def test_the_digest_leaves_out_what_is_never_applied(folder: Path) -> None:
    before = model_digest(folder)
    (folder / "generation_config.json").write_text('{"temperature": 3}')
    (folder / "README.md").write_text("notes")
    (folder / "optimizer.pt").write_bytes(b"state")
    assert model_digest(folder) == before


def test_the_digest_tells_apart_a_byte_that_moves_between_files(folder: Path) -> None:
    (folder / "config.json").write_text("ab")
    (folder / "tokenizer.json").write_text("c")
    before = model_digest(folder)
    (folder / "config.json").write_text("a")
    (folder / "tokenizer.json").write_text("bc")
    assert model_digest(folder) != before


def test_an_id_is_a_name_and_the_first_digits_of_the_digest(folder: Path) -> None:
    assert model_id("tiny", folder) == f"tiny@{model_digest(folder)[:12]}"


def test_limits_are_those_of_the_text_part(folder: Path) -> None:
    from transformers import LlamaConfig, Qwen3_5Config

    sizes = {"max_position_embeddings": 300, "vocab_size": 40}
    for config in (LlamaConfig(**sizes), Qwen3_5Config(text_config=sizes)):
        config.save_pretrained(folder)
        assert model_limits(folder) == Limits(300, 40)
