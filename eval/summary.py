"""Per-task summary of a run's rows: states, rates, labels, lengths. One pass, 16 bytes of memory per row.

It knows no table and no file; `eval/tables/` prints its counts. The summary does not depend on the order of the rows.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from eval.dialogue import STATES, Dialogue, Message, State
from eval.labels import SPECIFIC
from eval.stats.rates import Rate
from eval.turn_variety import opening, skeleton

Setting = Literal["self-generated", "cross", "held-out"]

JUDGED: tuple[State, ...] = ("ok", "truncated")
QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""ASCII, full-width and Arabic."""
CLOSING = frozenset("\"'*_~")
CLOSING_CATEGORIES = frozenset({"Cc", "Cf", "Mn", "Pe", "Pf", "Pi", "Ps", "Sk", "So", "Zl", "Zp", "Zs"})


@dataclass(frozen=True)
class TaskSummary:
    """The counts of one task in one setting.

    `genuine` (the judge's binary) and `specific` (the label) are over all judged rows, including the state `truncated`:
    a user turn that was cut off at its token limit is judged as is. Rows that failed or were skipped count only in
    `total` and `states`.
    """

    task: str
    setting: Setting | None
    """None if no row got far enough to show who wrote its answer."""
    total: int
    states: Mapping[State, int]
    genuine: Rate
    specific: Rate
    accuracy: Rate
    """Correct answers among the graded; self-generated only, as in other settings the answer is not the model's."""
    questions: Rate
    """Assistant answers that end in a question, among all answers."""
    cut_off: Rate
    """Assistant answers that reached their token limit, among the generated ones."""
    labels: Mapping[str, int]
    mean_user_tokens: float | None
    """Generated tokens per user turn, including the end-of-turn token; None if no turn has a token count."""
    different_turns: int
    """Distinct judged user turns after numbers and names are removed (`eval/turn_variety.py`)."""
    commonest_opening: int
    """Judged user turns with the most common opening words."""
    judges: Mapping[str, int]
    """Judged rows per judge id."""

    def __post_init__(self) -> None:
        assert sum(self.states.values()) == self.total, f"{self.task}: states {self.states} of {self.total} rows"
        assert sum(self.labels.values()) == self.judged == sum(self.judges.values()) == self.genuine.n, self.task

    @property
    def judged(self) -> int:
        """Rows with a judgement: `ok` and `truncated`."""
        return sum(self.states[state] for state in JUDGED)

    @property
    def unjudged(self) -> int:
        """Rows without a judgement: `gen_error`, `judge_error` and `skipped`."""
        return self.total - self.judged


def summarise(dialogues: Iterable[Dialogue]) -> list[TaskSummary]:
    """Summarise finished dialogues per task and setting, sorted by both.

    The setting follows from who wrote the answer and the user turn of each row. A row that failed too early to have one
    is counted with the other rows of its task if these share one setting.

    Raises:
        ValueError: a dialogue has neither a failure nor a judged user turn; the message gives its task and id.
    """
    tallies: dict[tuple[str, Setting | None], _Tally] = {}
    for dialogue in dialogues:
        tallies.setdefault((dialogue.task, setting_of(dialogue)), _Tally()).add(dialogue)
    for task in [task for task, setting in tallies if setting is None]:
        known = [tally for (other, setting), tally in tallies.items() if other == task and setting is not None]
        if len(known) == 1:
            known[0].merge(tallies.pop((task, None)))
    ordered = sorted(tallies.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    return [tally.summary(task, setting) for (task, setting), tally in ordered]


@dataclass
class _Tally:
    """The running counts of one `TaskSummary`."""

    total: int = 0
    genuine: int = 0
    graded: int = 0
    right: int = 0
    answers: int = 0
    questions: int = 0
    generated_answers: int = 0
    cut_off: int = 0
    counted_turns: int = 0
    user_tokens: int = 0
    states: Counter[State] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    skeletons: array[int] = field(default_factory=lambda: array("q"))
    openings: array[int] = field(default_factory=lambda: array("q"))
    """A 64-bit hash per judged user turn each."""

    def add(self, dialogue: Dialogue) -> None:
        """Count one finished dialogue."""
        self.total += 1
        self.states[dialogue.state] += 1
        if dialogue.state == "skipped":
            return
        answer, turn = answer_of(dialogue), user_turn_of(dialogue)
        if dialogue.state in JUDGED:
            self._add_judgement(dialogue, turn)
        if answer is not None:
            self.answers += 1
            self.questions += ends_in_question(answer.text)
            self.generated_answers += answer.finish is not None
            self.cut_off += answer.finish == "length"
        if dialogue.correct is not None:
            self.graded += 1
            self.right += dialogue.correct
        if turn is not None and turn.tokens is not None:
            self.counted_turns += 1
            self.user_tokens += turn.tokens

    def _add_judgement(self, dialogue: Dialogue, turn: Message | None) -> None:
        if turn is None or dialogue.judgement is None:
            lacks = "user turn" if turn is None else "judgement"
            raise ValueError(
                f"{dialogue.task} row {dialogue.id} has neither a {lacks} nor a failure; complete the run first"
            )
        self.genuine += dialogue.judgement.genuine
        self.labels[dialogue.judgement.label] += 1
        self.judges[dialogue.judgement.judge] += 1
        words = skeleton(turn.text)
        self.skeletons.append(hash(words))
        self.openings.append(hash(opening(words)))

    def merge(self, other: _Tally) -> None:
        """Add the counts of another tally."""
        for counted in fields(self):
            setattr(self, counted.name, getattr(self, counted.name) + getattr(other, counted.name))

    def summary(self, task: str, setting: Setting | None) -> TaskSummary:
        """The counts, frozen; mappings are sorted so that equal rows give equal output."""
        judged = sum(self.states[state] for state in JUDGED)
        own = setting == "self-generated"
        return TaskSummary(
            task=task,
            setting=setting,
            total=self.total,
            states={state: self.states[state] for state in STATES},
            genuine=Rate(self.genuine, judged),
            specific=Rate(sum(self.labels[label] for label in SPECIFIC), judged),
            accuracy=Rate(self.right, self.graded) if own else Rate(0, 0),
            questions=Rate(self.questions, self.answers),
            cut_off=Rate(self.cut_off, self.generated_answers),
            labels=dict(sorted(self.labels.items())),
            mean_user_tokens=self.user_tokens / self.counted_turns if self.counted_turns else None,
            different_turns=len(_multiplicities(self.skeletons)),
            commonest_opening=max(_multiplicities(self.openings), default=0),
            judges=dict(sorted(self.judges.items())),
        )


def _multiplicities(digests: array[int]) -> list[int]:
    """How often each distinct digest occurs."""
    import numpy as np

    return np.unique_counts(digests).counts.tolist()


def user_turn_of(dialogue: Dialogue) -> Message | None:
    """The measured user turn: the last message, unless it is still the query from the data."""
    last = dialogue.messages[-1] if dialogue.messages else None
    if last is None or last.role != "user":
        return None
    return last if last.by != "data" or dialogue.real_user else None


def answer_of(dialogue: Dialogue) -> Message | None:
    """The assistant turn that the user turn replies to; None if it was never made."""
    before = dialogue.messages[:-1] if user_turn_of(dialogue) else dialogue.messages
    return before[-1] if before and before[-1].role == "assistant" else None


def setting_of(dialogue: Dialogue) -> Setting | None:
    """Who wrote the answer: the data ("held-out"), the model itself ("self-generated") or another model ("cross").

    None for a row that was skipped, or that failed before its user turn on an answer that is not from the data.
    """
    answer, turn = answer_of(dialogue), user_turn_of(dialogue)
    if dialogue.state == "skipped":
        return None
    if answer is not None and answer.by == "data":
        return "held-out"
    if answer is None or turn is None:
        return None
    return "self-generated" if answer.by == turn.by else "cross"


def ends_in_question(text: str) -> bool:
    """Whether the text ends in a question mark, apart from closing quotes, brackets, markdown, emoji and spaces."""
    end = len(text)
    while end and (text[end - 1] in CLOSING or unicodedata.category(text[end - 1]) in CLOSING_CATEGORIES):
        end -= 1
    return end > 0 and text[end - 1] in QUESTION_MARKS
