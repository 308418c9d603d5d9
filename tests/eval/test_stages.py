"""The stages, with a format and an engine that are a few lines: what is spoken, stored, retried, graded and judged."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from eval.dialogue import STATES, Dialogue, Failure, Judgement, Message
from eval.engine import Completion, Prompt, Sampling
from eval.progress import silent
from eval.rendering.chat_format import Utterance
from eval.rows import RowStore
from eval.speaker import Speaker
from eval.stages import Changed, Turns, decide


class LetterFormat:
    """Every character is a token; a turn opens with U: or A: and closes with a full stop; reasoning ends with a )."""

    name, history, template_sha, options = "letters", "as_history", "abc", {"loud": False}

    def open_turn(self, messages: Sequence[Message], role: str) -> list[int]:
        if any("#" in message.text for message in messages):
            raise ValueError("# cannot be rendered")
        return [ord(char) for m in messages for char in f"{m.role[0]}:{m.text}."] + [ord(role[0]), ord(":")]

    def stop_ids(self, role: str) -> frozenset[int]:
        return frozenset({ord(".")})

    def clean(self, ids: Sequence[int], role: str) -> Utterance:
        reasoning, mark, text = "".join(map(chr, ids)).rpartition(")")
        finish = "stop" if text.endswith(".") else "length"
        return Utterance(text.removesuffix("."), reasoning if mark else None, finish)  # type: ignore[arg-type]


@dataclass
class EchoEngine:
    """Says how long the prompt is and which seed it got; backwards in blocks of three, and fails as it is told."""

    fails: dict[int, Failure] = field(default_factory=dict)
    """By how many prompts came before."""
    reasons: bool = False
    seen: list[Prompt] = field(default_factory=list)
    max_context: int = 10**6
    dtype: str = "float32"

    def generate(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int]
    ) -> Iterator[tuple[str, Completion | Failure]]:
        block = []
        for prompt in prompts:
            block.append((len(self.seen), prompt))
            self.seen.append(prompt)
            if len(block) == 3:
                yield from self._speak(block, sampling)
                block = []
        yield from self._speak(block, sampling)

    def _speak(self, block: list[tuple[int, Prompt]], sampling: Sampling) -> Iterator[tuple[str, Completion | Failure]]:
        for number, prompt in reversed(block):
            said = f"{len(prompt.ids)} {prompt.seed % 1000}."[: sampling.max_tokens]
            said = f"7, I think){said}" if self.reasons else said
            finish = "stop" if said.endswith(".") else "length"
            yield prompt.key, self.fails.get(number) or Completion(tuple(map(ord, said)), finish)  # type: ignore[arg-type]


@dataclass
class LengthJudge:
    """Calls a turn genuine when its first number is even; cannot decide on texts that hold 7."""

    id: str = "length-1"
    seen: int = 0

    def judge(self, dialogues: Iterable[Dialogue]) -> Iterator[tuple[Dialogue, Judgement | Failure]]:
        for dialogue in dialogues:
            self.seen += 1
            text = dialogue.messages[-1].text
            even = int(text.split()[0]) % 2 == 0
            yield dialogue, Failure("judge", "seven") if "7" in text else Judgement("other", even, self.id)


def question(number: int, text: str = "why?") -> Dialogue:
    return Dialogue("toy", (Message("user", text),), meta={"row": number})


def held_out(number: int) -> Dialogue:
    return question(number).says(Message("assistant", "because"))


def speaker(engine: EchoEngine) -> Speaker:
    return Speaker(engine, LetterFormat(), "echo@1")  # type: ignore[arg-type]


LIMIT = Sampling(max_tokens=99)


def test_the_role_is_an_argument_and_held_out_answers_stay(tmp_path: Path) -> None:
    with RowStore(tmp_path / "turns.jsonl") as store:
        voice = speaker(EchoEngine())
        answered = Turns([question(1), held_out(2)], "assistant", voice, LIMIT, store)
        answered.generate(silent)
        spoken = Turns(answered, "user", voice, LIMIT, store)
        spoken.generate(silent)
        first, second = spoken
    assert [(m.role, m.by) for m in first.messages] == [("user", "data"), ("assistant", "echo@1"), ("user", "echo@1")]
    assert [(m.role, m.by) for m in second.messages] == [("user", "data"), ("assistant", "data"), ("user", "echo@1")]
    assert second.messages[-1].text.startswith("19 ")
    assert second.messages[-1].tokens == len(second.messages[-1].text) + 1
    assert voice.tokens["user"] == sum(d.messages[-1].tokens or 0 for d in (first, second))


def test_a_real_users_turn_is_judged_and_nothing_before_it_is_made_or_changed(tmp_path: Path) -> None:
    said = held_out(3).says(Message("user", "4 of them?"))
    control = replace(said, meta={"row": 3, "source": "real_user"})
    engine = EchoEngine()
    with RowStore(tmp_path / "turns.jsonl") as store:
        answered = Turns([control], "assistant", speaker(engine), LIMIT, store)
        answered.generate(silent)
        spoken = Turns(Changed(answered, lambda _: question(4)), "user", speaker(engine), LIMIT, store)
        spoken.generate(silent)
        (judged,) = decide(spoken, LengthJudge())
    assert engine.seen == []
    assert judged == replace(control, judgement=Judgement("other", True, "length-1"))


def test_a_second_run_generates_nothing_and_a_third_only_what_failed(tmp_path: Path) -> None:
    dialogues = [question(number) for number in range(7)]
    failing = EchoEngine(fails={4: Failure("generate", "out_of_memory")})
    for engine, generated in ((failing, 7), (EchoEngine(), 1), (EchoEngine(), 0)):
        with RowStore(tmp_path / "turns.jsonl") as store:
            turns = Turns(dialogues, "assistant", speaker(engine), LIMIT, store)
            turns.generate(silent)
            assert len(engine.seen) == generated
            assert [d.meta["row"] for d in turns] == list(range(7))
    assert all(d.failure is None for d in _read(tmp_path, dialogues))


def _read(folder: Path, dialogues: list[Dialogue]) -> list[Dialogue]:
    with RowStore(folder / "turns.jsonl") as store:
        return list(Turns(dialogues, "assistant", speaker(EchoEngine()), LIMIT, store))


def test_what_is_done_to_a_finished_turn_is_done_once_and_stored(tmp_path: Path) -> None:
    graded = []

    def grade(dialogue: Dialogue) -> Dialogue:
        graded.append(dialogue.meta["row"])
        return replace(dialogue, correct=dialogue.meta["row"] == 1)

    dialogues = [question(1), question(2), held_out(3), question(4)]
    engine = EchoEngine(fails={2: Failure("generate", "out_of_memory")})
    for _ in range(2):
        with RowStore(tmp_path / "turns.jsonl") as store:
            turns = Turns(dialogues, "assistant", speaker(engine), LIMIT, store, after=grade)
            turns.generate(silent)
            assert {d.meta["row"]: d.correct for d in turns}.items() >= {1: True, 2: False, 3: None}.items()
    assert sorted(graded) == [1, 2, 4]


def test_a_seed_belongs_to_the_row_and_the_role() -> None:
    def seeds(dialogues: list[Dialogue], role: str = "user", seed: int = 0) -> dict[int, int]:
        engine = EchoEngine()
        rows = dict(speaker(engine).speak(dialogues, role, Sampling(seed=seed)))  # type: ignore[arg-type]
        return {rows[prompt.key].meta["row"]: prompt.seed for prompt in engine.seen}

    dialogues = [held_out(number) for number in range(8)]
    alone = seeds(dialogues)
    assert len(set(alone.values())) == 8
    assert seeds(dialogues[::-1]) == alone
    assert seeds(dialogues[3:5]) == {3: alone[3], 4: alone[4]}
    assert seeds(dialogues, seed=1) != alone
    assert seeds([question(0)], role="assistant")[0] != alone[0]
    perturbed = replace(dialogues[0], messages=(*dialogues[0].messages[:1], Message("assistant", "bec")))
    assert seeds([perturbed])[0] == alone[0]


def test_a_key_covers_all_that_decides_the_turn() -> None:
    voice = speaker(EchoEngine())
    other_history = LetterFormat()
    other_history.history = "as_last"
    other_options = LetterFormat()
    other_options.options = {"loud": True}
    keys = {
        voice.key(held_out(1), "user", LIMIT),
        voice.key(held_out(2), "user", LIMIT),
        voice.key(held_out(1).says(Message("user", "x")), "user", LIMIT),
        voice.key(held_out(1), "assistant", LIMIT),
        voice.key(held_out(1), "user", Sampling(max_tokens=98)),
        replace(voice, model_id="echo@2").key(held_out(1), "user", LIMIT),
        replace(voice, engine=EchoEngine(dtype="bfloat16")).key(held_out(1), "user", LIMIT),
        replace(voice, chat_format=other_history).key(held_out(1), "user", LIMIT),  # type: ignore[arg-type]
        replace(voice, chat_format=other_options).key(held_out(1), "user", LIMIT),  # type: ignore[arg-type]
    }
    assert len(keys) == 9


def test_reasoning_is_kept_and_neither_heard_nor_graded_nor_judged(tmp_path: Path) -> None:
    def grade(dialogue: Dialogue) -> bool:
        return "7" in "".join(message.text for message in dialogue.messages)

    rows = {}
    for reasons in (False, True):
        with RowStore(tmp_path / f"{reasons}.jsonl") as store:
            quiet = speaker(EchoEngine(reasons=reasons))
            answered = Turns([question(number) for number in range(9)], "assistant", quiet, LIMIT, store)
            answered.generate(silent)
            graded = Changed(answered, lambda dialogue: replace(dialogue, correct=grade(dialogue)))
            spoken = Turns(graded, "user", speaker(EchoEngine()), LIMIT, store)
            spoken.generate(silent)
            rows[reasons] = {row.id: row for row in decide(spoken, LengthJudge())}
    assert len(rows[True]) == 9
    for row in rows[True].values():
        plain = rows[False][row.id]
        assert row.messages[1].reasoning == "7, I think" and plain.messages[1].reasoning is None
        assert row.messages[1].tokens == (plain.messages[1].tokens or 0) + len("7, I think)")
        assert row.messages[1].text == plain.messages[1].text
        assert row.messages[2] == plain.messages[2]
        assert (row.correct, row.judgement, row.failure) == (plain.correct, plain.judgement, plain.failure)


def test_every_row_ends_in_one_of_five_states(tmp_path: Path) -> None:
    skipped = replace(question(90), failure=Failure("load", "no_ideal_completion"))
    unrenderable = question(91, "#")
    dialogues = [*(held_out(number) for number in range(40)), skipped, unrenderable]
    engine = EchoEngine(fails={5: Failure("generate", "context_too_long")})
    judge = LengthJudge()
    with RowStore(tmp_path / "turns.jsonl") as store:
        voice = speaker(engine)
        answered = Turns(dialogues, "assistant", voice, LIMIT, store)
        answered.generate(silent)
        graded = Changed(answered, lambda dialogue: replace(dialogue, correct=dialogue.meta["row"] % 2 == 0))
        spoken = Turns(graded, "user", voice, Sampling(max_tokens=6), store)
        spoken.generate(silent)
        rows = list(decide(spoken, judge))
    assert sorted(row.meta["row"] for row in rows) == [*range(40), 90, 91]
    counts = Counter(row.state for row in rows)
    assert counts["skipped"] == 1 and counts["gen_error"] == 2
    assert set(counts) == set(STATES) and counts.total() == 42
    assert judge.seen == 39
    for row in rows:
        assert (row.judgement is None) == (row.failure is not None)
        assert row.correct == (row.meta["row"] % 2 == 0 if row.meta["row"] < 90 else None)


@pytest.mark.parametrize("dialogues", [[], [replace(held_out(1), failure=Failure("load", "x"))]])
def test_nothing_to_do_is_no_error(tmp_path: Path, dialogues: list[Dialogue]) -> None:
    with RowStore(tmp_path / "turns.jsonl") as store:
        engine = EchoEngine()
        turns = Turns(dialogues, "user", speaker(engine), LIMIT, store)
        turns.generate(silent)
        assert list(turns) == dialogues
        assert len(list(decide(turns, LengthJudge()))) == len(dialogues)
    assert engine.seen == []


def test_a_stage_streams(tmp_path: Path) -> None:
    """The first turn is stored long before the last dialogue is read."""
    engine = EchoEngine()
    with RowStore(tmp_path / "turns.jsonl") as store:
        read = 0

        def endless() -> Iterator[Dialogue]:
            nonlocal read
            while True:
                read += 1
                yield held_out(read)

        for key, dialogue in speaker(engine).speak(endless(), "user", LIMIT):
            store.append(key, dialogue)
            if len(store) == 5:
                break
    assert read <= 6


@dataclass(frozen=True)
class LongDialogues:
    """Dialogues of 20 kB, made anew whenever they are iterated."""

    count: int

    def __iter__(self) -> Iterator[Dialogue]:
        for number in range(self.count):
            yield Dialogue("toy", (Message("user", "why? " * 4000), Message("assistant", "so")), meta={"row": number})


def peak_of_a_run(folder: Path, count: int) -> int:
    """Peak of the memory that Python allocates while `count` dialogues are spoken, judged and stored, in bytes."""
    folder.mkdir()
    tracemalloc.start()
    with RowStore(folder / "turns.jsonl") as turns, RowStore(folder / "rows.jsonl") as rows:
        spoken = Turns(LongDialogues(count), "user", speaker(ForgetfulEngine()), LIMIT, turns)
        spoken.generate(silent)
        for row in decide(spoken, LengthJudge()):
            rows.append(row.id, row)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(1 for _ in (folder / "rows.jsonl").open()) == count
    return peak


class ForgetfulEngine(EchoEngine):
    """Does not keep the prompts it has seen, which would be this test's own memory."""

    def generate(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int]
    ) -> Iterator[tuple[str, Completion | Failure]]:
        for prompt in prompts:
            yield prompt.key, Completion(tuple(map(ord, "12 so.")), "stop")


def test_memory_stays_flat_as_rows_grow(tmp_path: Path) -> None:
    few, many = peak_of_a_run(tmp_path / "few", 50), peak_of_a_run(tmp_path / "many", 500)
    assert (many - few) / 450 < 1000  # bytes a row: its key and its place, where the row itself has 20,000
