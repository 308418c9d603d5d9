"""Fixtures shared by all tests: paths, and the chat families on small tokenizers. No test connects to a model hub."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from eval import plugin
from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat, Utterance

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["COLUMNS"] = "120"  # pytest-xdist workers default to 80, where tables wrap
settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")

REPOSITORY = Path(__file__).parent.parent
SMOLLM2 = REPOSITORY / "models" / "SmolLM2-135M-Instruct"


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Restores SIGINT, which a shell ignores for background jobs and which tests send to their child processes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the working tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The folder of the small real weights."""
    if not SMOLLM2.is_dir():
        pytest.skip(f"{SMOLLM2} does not exist; create it with `make model`")
    return SMOLLM2


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The optional folder of real data files, $USERTURN_DATA or ../shared/data."""
    folder = Path(os.environ.get("USERTURN_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}; set USERTURN_DATA")
    return folder


FRAGMENTS = (
    *("<|im_end|>", "<|im_start|>user\n", "<think>", "</think>", "<tool_response>", "<|user|>", "<|assistant|>"),
    *("/nothink", "<|end|>", "<|start|>assistant<|channel|>final<|message|>", "<|return|>", "<|endoftext|>"),
    *("\n", "\n\n", " ", "  ", ".", "?\n", "hi", "7", "\u2003", "e\u0301"),
)
"""Control tokens of every family, and whitespace and punctuation that vocabularies merge with neighbouring text."""


@dataclass(frozen=True)
class Voice:
    """A chat family with its options, and what its template does to texts."""

    family: str
    tokenizer: str
    """Name of the fixture of a small tokenizer with the family's own template."""
    options: dict[str, Any] = field(default_factory=dict)
    trims: tuple[str, ...] = ()
    """Which texts the template strips: those of the roles, and "reasoning"."""
    closers: tuple[str, str, str] = ("<|im_end|>",) * 3
    """Closing token of a user turn, a past assistant turn ("" if generation never stops there) and a final one."""

    def format_on(self, tokenizer: Any, **options: Any) -> ChatFormat:
        return plugin.load("eval.formats", self.family).Format(tokenizer, **self.options, **options)

    def fit(self, kind: str, text: str) -> str:
        return text.strip() if kind in self.trims else text

    def flaws(
        self, chat_format: ChatFormat, conversation: list[Message], writes: Callable[[str], str] = str
    ) -> list[str]:
        """Violations of the contract: opening ids are a prefix, contain no reasoning, and the last turn round-trips.

        `writes` is the text after the tokenizer's own normalization.
        """
        flaws, opened = [], []
        ids = chat_format.ids(conversation)
        for turn, message in enumerate(conversation):
            if message.role == "user" or (message.role == "assistant" and turn == len(conversation) - 1):
                before = conversation[:turn]
                opened = chat_format.open_turn(before, message.role)
                if ids[: len(opened)] != opened:
                    flaws.append(f"prefix of turn {turn}")
                if opened != chat_format.open_turn([Message(m.role, m.text) for m in before], message.role):
                    flaws.append(f"reasoning before turn {turn}")
        last = conversation[-1]
        reasoned = last.role == "assistant" and chat_format.reasons_in(last)
        reasoning = writes(self.fit("reasoning", last.reasoning or "")) if reasoned else ""
        expected = Utterance(writes(self.fit(last.role, last.text)), reasoning or None, "stop")
        if chat_format.clean(ids[len(opened) :], last.role) != expected:
            flaws.append("round trip")
        return flaws


QWEN = {
    "family": "qwen3_5",
    "tokenizer": "qwen3_5_tokenizer",
    "trims": ("system", "user", "assistant", "reasoning"),
}
GLM = {"family": "glm", "trims": ("assistant", "reasoning"), "closers": ("<|assistant|>", "<|user|>", "<|user|>")}
VOICES = {
    "smollm2": Voice("smollm2", "smollm2_tokenizer"),
    "qwen3_5": Voice(**QWEN),
    "qwen3_5-thinking": Voice(**QWEN, options={"thinking": True}),
    "harmony": Voice("harmony", "harmony_tokenizer", closers=("<|end|>", "", "<|return|>")),
    "glm-4.5": Voice(**GLM, tokenizer="glm_tokenizer", options={"thinking": False}),
    "glm-4.5-thinking": Voice(**GLM, tokenizer="glm_tokenizer", options={"thinking": True}),
    "glm-4.7": Voice(**GLM, tokenizer="glm_4_7_tokenizer", options={"thinking": False}),
    "glm-4.7-thinking": Voice(**GLM, tokenizer="glm_4_7_tokenizer", options={"thinking": True}),
}


CORPUS = [
    "Tom has 12 pens and gives 5 of them away. How many pens does he keep?\n\n",
    "He keeps 12 - 5 = 7 pens.\n\nWould you like to see another one?\n\n",
    "\n\n\n\nthank you so much <think> I think | im _start _end </think> for the answer\n\n",
    "\ufffd user assistant system tool response, a Text and a Text and a Text",
]
SPECIAL = {
    "chatml": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    "chatml-without-marks": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    "harmony": ["<|endoftext|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>", "<|message|>", "<|end|>"],
    "glm": [
        *("<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"),
        "/nothink",
    ],
}
ADDED = {
    "chatml": ["<think>", "</think>", "<tool_response>", "</tool_response>", "  "],
    "chatml-without-marks": [],
    "harmony": [],
    "glm": ["<think>", "</think>", "<tool_response>", "</tool_response>"],
}
"""Added tokens that are not special, as in Qwen3, including one of whitespace."""
SMOLLM2_TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first and message.role != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}"
    "{% endif %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

MakeTokenizer = Callable[..., "PreTrainedTokenizerFast"]


def train(every_byte: bool, vocabulary: str = "chatml") -> str:
    """The tokenizer.json of a byte-level BPE; without `every_byte`, its vocabulary covers only the corpus."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token=None if every_byte else "<|endoftext|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if every_byte else []
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=SPECIAL[vocabulary], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS * 4, trainer)
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in ADDED[vocabulary]])
    return tokenizer.to_str()


def wrap(definition: str, template: str | None) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(definition))
    tokenizer.chat_template = template
    return tokenizer


@pytest.fixture(scope="session")
def make_tokenizer() -> MakeTokenizer:
    """(template, vocabulary="chatml") -> a small tokenizer with the control tokens of a family and that template."""
    definitions: dict[str, str] = {}

    def make(template: str | None, vocabulary: str = "chatml") -> PreTrainedTokenizerFast:
        if vocabulary not in definitions:
            definitions[vocabulary] = train(every_byte=True, vocabulary=vocabulary)
        return wrap(definitions[vocabulary], template)

    return make


@pytest.fixture(scope="session")
def tokenizer_without_some_bytes() -> PreTrainedTokenizerFast:
    """Like SmolLM2's: bytes outside its vocabulary become its end-of-text token."""
    return wrap(train(every_byte=False), SMOLLM2_TEMPLATE)


@pytest.fixture(scope="session")
def smollm2_tokenizer(make_tokenizer: MakeTokenizer) -> PreTrainedTokenizerFast:
    return make_tokenizer(SMOLLM2_TEMPLATE)


@pytest.fixture(scope="session")
def trl_template() -> Callable[[str], str]:
    """Name -> a chat template that ships inside trl, found without importing trl."""
    spec = find_spec("trl")
    assert spec is not None and spec.submodule_search_locations, "trl is not installed: run `make setup`"
    folder = Path(spec.submodule_search_locations[0]) / "chat_templates"
    return lambda name: (folder / f"{name}.jinja").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def qwen3_5_template(trl_template: Callable[[str], str]) -> str:
    return trl_template("qwen3_5_nothink")


@pytest.fixture(scope="session")
def qwen3_5_tokenizer(make_tokenizer: MakeTokenizer, qwen3_5_template: str) -> PreTrainedTokenizerFast:
    return make_tokenizer(qwen3_5_template)


@pytest.fixture(scope="session")
def harmony_tokenizer(make_tokenizer: MakeTokenizer, trl_template: Callable[[str], str]) -> PreTrainedTokenizerFast:
    return make_tokenizer(trl_template("gptoss"), "harmony")


@pytest.fixture(scope="session")
def glm_tokenizer(make_tokenizer: MakeTokenizer, trl_template: Callable[[str], str]) -> PreTrainedTokenizerFast:
    """A small tokenizer with the template of GLM-4.5."""
    return make_tokenizer(trl_template("glm4moe"), "glm")


@pytest.fixture(scope="session")
def glm_4_7_tokenizer(make_tokenizer: MakeTokenizer, data_dir: Path) -> PreTrainedTokenizerFast:
    path = data_dir / "chat_templates" / "GLM-4.7-Flash.jinja"
    if not path.is_file():
        pytest.skip(f"{path} does not exist, and no package ships the template of GLM-4.7")
    return make_tokenizer(path.read_text(encoding="utf-8"), "glm")


@pytest.fixture(scope="session")
def chat_format(voice: Any, request: pytest.FixtureRequest) -> ChatFormat:
    """The format of `voice` on a small tokenizer."""
    return voice.format_on(request.getfixturevalue(voice.tokenizer))


@pytest.fixture(scope="session", params=VOICES)
def voice(request: pytest.FixtureRequest) -> Voice:
    """Every chat family, with its options."""
    return VOICES[request.param]


@pytest.fixture(scope="session")
def rendered_otherwise() -> Callable[[ChatFormat, list[Message]], list[str]]:
    """(format, conversation ending in an answer) -> the parts whose ids differ from the tokenizer's own rendering."""

    def own(chat_format: ChatFormat, messages: list[Message], **how: bool) -> list[int]:
        turns = [{"role": message.role, "content": message.text} for message in messages]
        if messages[-1].role == "assistant" and chat_format.reasons_in(messages[-1]):
            turns[-1][chat_format.reasoning_field] = messages[-1].reasoning
        variables = {**chat_format.template_variables, "tokenize": True, "return_dict": False, **how}
        return chat_format.tokenizer.apply_chat_template(turns, **variables)

    def otherwise(chat_format: ChatFormat, conversation: list[Message]) -> list[str]:
        found, asked = [], conversation[:-1]
        for messages in (conversation, asked):
            closer = chat_format.closers.get(messages[-1].role)
            closing = [chat_format.tokenizer.convert_tokens_to_ids(closer)] if closer else []
            if chat_format.ids(messages) != own(chat_format, messages) + closing:
                found.append(f"{len(messages)} turns")
        if chat_format.open_turn(asked, "assistant") != own(chat_format, asked, add_generation_prompt=True):
            found.append("prompt of the answer")
        return found

    return otherwise


@pytest.fixture(scope="session")
def random_conversation() -> Callable[[random.Random], list[Message]]:
    """Alternating turns that start with the user, sometimes with a system message and with reasoning in answers."""

    def letters(source: random.Random) -> str:
        return "".join(chr(source.choice([source.randrange(0x20, 0x3000), 0x1F680])) for _ in range(3))

    def text(source: random.Random) -> str:
        pieces = range(source.randrange(7))
        return "".join(source.choice(FRAGMENTS) if source.random() < 0.7 else letters(source) for _ in pieces)

    def conversation(source: random.Random) -> list[Message]:
        turns = [Message("system", text(source))] if source.random() < 0.3 else []
        for turn in range(source.randrange(1, 7)):
            reasoning = text(source) if turn % 2 == 1 and source.random() < 0.7 else None
            turns.append(Message("assistant" if turn % 2 else "user", text(source), reasoning=reasoning))
        return turns

    return conversation


@pytest.fixture(scope="session")
def nltk_data(data_dir: Path) -> None:
    """NLTK's data, which the checkers of IFEval and IFBench need."""
    from eval.grading.nltk_data import find_nltk_data

    try:
        find_nltk_data(data_dir)
    except FileNotFoundError as error:
        pytest.skip(str(error))
