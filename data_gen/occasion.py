"""Classifies a response by the kinds of reaction it invites; styles name the occasions that suit them.

People check a sum, try out advice and ask for another line of a poem. A data set whose user turns depend on the
response in this way teaches a model what to ask, not only when.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from data_gen.scripted.plain_text import LIST_ITEM

ADVICE = re.compile(r"\b(?:you (?:can|should|could|may|might|need)|try|avoid|make sure|don't|see a|talk to)\b", re.I)
AMOUNT = re.compile(r"\b\d[\d,]*(?:\.\d+)?\s*(?:%|[a-zA-Z]{1,9}\b)")
SUM = re.compile(r"\d\s*[-+*/x\u00d7\u00f7]\s*\$?\d[\d.,]*\s*=")
CLAIM = re.compile(r"\b(?:is|are|was|were|because|means?|causes?|leads?)\b", re.I)
COMMISSION = re.compile(r"\b(?:write|compose|draft|create|generate|give me|rewrite|tell me a)\b", re.I)

OCCASIONS: Mapping[str, Callable[[str, str], bool]] = {
    "calculation": lambda query, response: bool(SUM.search(response)),
    "list": lambda query, response: len(LIST_ITEM.findall(response)) > 1,
    "advice": lambda query, response: len(ADVICE.findall(response)) > 1,
    "amount": lambda query, response: not SUM.search(response) and len(AMOUNT.findall(response)) > 1,
    "claim": lambda query, response: len(CLAIM.findall(response)) > 1 and not LIST_ITEM.search(response),
    "text": lambda query, response: bool(COMMISSION.search(query)) and not SUM.search(response),
    "question": lambda query, response: response.rstrip().endswith("?"),
}
"""Name of each occasion -> whether a query and its response match it."""


def occasions(query: str, response: str) -> frozenset[str]:
    """Names of all occasions that a query and its response match."""
    return frozenset(name for name, matches in OCCASIONS.items() if matches(query, response))
