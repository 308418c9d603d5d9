"""Small tokenizers of each family with real byte-pair merges, and run folders by the real writers; no download."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from pydantic import Field

from eval.config import Config
from eval.dialogue import Dialogue, Judgement, Message, content_hash
from eval.rows import RowStore
from eval.run_dir import RunDir
from eval.speech.chat_format import ChatFormat
from eval.summary import summarise

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

settings.register_profile("seeded", derandomize=True, deadline=None)
settings.load_profile("seeded")

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
"""Added tokens that are not special, as in Qwen3, and one of white space."""
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
    """The tokenizer.json of a byte-level BPE; with `every_byte` false, it knows the bytes of the corpus alone."""
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
    """Like SmolLM2's: what its vocabulary cannot write becomes its end-of-text token."""
    return wrap(train(every_byte=False), SMOLLM2_TEMPLATE)


@pytest.fixture(scope="session")
def smollm2_tokenizer(make_tokenizer: MakeTokenizer) -> PreTrainedTokenizerFast:
    return make_tokenizer(SMOLLM2_TEMPLATE)


@pytest.fixture(scope="session")
def trl_template() -> Callable[[str], str]:
    """A model's own chat template, by its name among those that ship inside trl; found without importing trl."""
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
    """With the template of GLM-4.5."""
    return make_tokenizer(trl_template("glm4moe"), "glm")


@pytest.fixture(scope="session")
def glm_4_7_tokenizer(make_tokenizer: MakeTokenizer, data_dir: Path) -> PreTrainedTokenizerFast:
    path = data_dir / "chat_templates" / "GLM-4.7-Flash.jinja"
    if not path.is_file():
        pytest.skip(f"no {path}; no package ships the template of GLM-4.7")
    return make_tokenizer(path.read_text(encoding="utf-8"), "glm")


@pytest.fixture(scope="session")
def chat_format(voice: Any, request: pytest.FixtureRequest) -> ChatFormat:
    """The format of `voice`, on a small tokenizer."""
    return voice.format_on(request.getfixturevalue(voice.tokenizer))


class FolderConfig(Config):
    """What `RunDir` needs of a configuration."""

    run_dir: Path = Field(description="folder")


def judged_row(
    task: str,
    number: int,
    label: str = "new_task_prompt",
    genuine: bool = False,
    *,
    correct: bool | None = None,
    turn: str = "Why?",
    model: str = "tiny@0123",
    held_out: bool = False,
    judge: str = "local-1",
) -> Dialogue:
    """A finished row whose identity is its task and number, whatever was generated."""
    loaded = Dialogue(task, (Message("user", f"{task} query {number}"),))
    answer = Message("assistant", f"Answer {number}.") if held_out else Message("assistant", "4", model, "stop", 2)
    spoken = loaded.says(answer).says(Message("user", turn, model, "stop", 3))
    judgement = Judgement(label, genuine, judge)
    return Dialogue(task, spoken.messages, correct=correct, judgement=judgement, id=loaded.id)


def judged_rows(task: str, n: int, genuine: int, *, right: int | None = None, **fields: Any) -> list[Dialogue]:
    """`n` rows: the first `genuine` genuine, every second of these specific; the first `right` answered right."""
    return [
        judged_row(
            task,
            number,
            ("genuine_followup", "generic_followup")[number % 2] if number < genuine else "previous_turn_restate",
            number < genuine,
            correct=None if right is None else number < right,
            **fields,
        )
        for number in range(n)
    ]


def protocol(
    model: str = "SmolLM2-135M-Instruct@0123",
    format: str = "smollm2",
    temperature: float = 0.0,
    perturbation: dict[str, Any] | None = None,
    answers_from: str | None = None,
    judge: str = "local-1",
) -> dict[str, Any]:
    """A protocol as a probe writes it."""
    greedy = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "max_tokens": 96, "seed": 0}
    return {
        "model": model,
        "format": format,
        "template_sha": content_hash(format),
        "history": "as_history",
        "engine": "transformers",
        "dtype": "float32",
        "answers": greedy,
        "answers_sha": "0",
        "sampling": {**greedy, "temperature": temperature},
        "answers_from": answers_from,
        "perturbation": perturbation,
        "judge": judge,
    }


MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeRun:
    """Writes a run folder of the given rows with the writers of a probe; keywords are those of `protocol`."""
    monkeypatch.setattr("eval.manifest.git_state", lambda folder: {"commit": None, "dirty_sha256": None, "diff": None})
    monkeypatch.setattr("eval.manifest.packages", dict)

    def make(name: str, rows: Iterable[Dialogue], finish: bool = True, **fields: Any) -> Path:
        path = tmp_path / "runs" / name
        with RunDir(path, FolderConfig(run_dir=path), protocol(**fields), {"seed": 0, "tasks": {}}) as run:
            rows = list(rows)
            with RowStore(path / "rows.jsonl") as store:
                for row in rows:
                    store.append(row.id, row)
            if finish:
                run.finish({"tasks": [asdict(summary) for summary in summarise(rows)]})
        return path

    return make


@pytest.fixture
def rows_of() -> Callable[..., list[Dialogue]]:
    """`judged_rows`: rows of a task with known rates."""
    return judged_rows


@pytest.fixture
def row_of() -> Callable[..., Dialogue]:
    """`judged_row`: one row with a known judgement."""
    return judged_row
