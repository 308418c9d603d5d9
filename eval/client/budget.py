"""Counts tokens and dollars of a run over all its processes, and refuses requests that could exceed its limit.

The upper bound of a request's cost is set aside before it is sent; its actual cost is booked afterwards. Prices are in
`prices.yaml`, with their date. Knows no server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval import strict_yaml
from eval.client.chat_reply import Fault, Usage
from eval.client.spending import SpendingLog
from eval.config import ConfigError

PRICES = Path(__file__).with_name("prices.yaml")
WRAPPING = 64
"""Tokens that a server may add to a request beyond its JSON text."""


@dataclass(frozen=True)
class Price:
    """The price of one model, in US dollars per million tokens."""

    input: float
    cached_input: float
    output: float
    up_to_input_tokens: int
    date: str

    def of(self, usage: Usage) -> float:
        """The cost of a request in US dollars."""
        fresh = usage.input - usage.cached
        return (fresh * self.input + usage.cached * self.cached_input + usage.output * self.output) / 1e6


def price_of(model: str, *, batch: bool = False, path: Path = PRICES) -> Price | None:
    """The price of a model or of a dated version of it; None if the table does not have it."""
    table = strict_yaml.load(path.read_text(encoding="utf-8"))
    entry = table["models"].get(re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model))
    if entry is None or None in entry.values():
        return None
    factor = table["batch_factor"] if batch else 1
    rates = {name: rate * factor for name, rate in entry.items()}
    return Price(**rates, up_to_input_tokens=table["up_to_input_tokens"], date=str(table["date"]))


class Budget:
    """The account of one run; amounts are in US dollars. For one thread."""

    def __init__(self, price: Price | None = None, limit: float | None = None) -> None:
        """Open the account.

        Raises:
            ConfigError: there is a limit but no price to apply it with.
        """
        if limit is not None and price is None:
            raise ConfigError(
                f"a budget of ${limit} cannot be applied: no price is known for this model; "
                f"add it to {PRICES.name} or leave the budget out"
            )
        self.price, self.limit = price, limit
        self.spent = 0.0
        """By this process."""
        self.spent_before = 0.0
        """By earlier processes of the run."""
        self.held = 0.0
        """Set aside for requests in progress."""
        self.under_way = 0
        self.tokens = Usage(0, 0)
        """Of this process."""
        self._log: SpendingLog | None = None
        self._resumed: set[Path] = set()

    def resume(self, log: SpendingLog) -> None:
        """Count what earlier processes have spent according to `log`, and record in it what this one spends.

        A budget that serves several folders, such as that of a sweep, resumes each; the log of a folder counts once.
        """
        self._log = log
        if log.path not in self._resumed:
            self._resumed.add(log.path)
            self.spent_before += log.earlier

    @property
    def spent_in_all(self) -> float:
        """Spent by the run, including earlier processes."""
        return self.spent_before + self.spent

    def __str__(self) -> str:
        """What the run has spent, such as "$1.25 of $20.00"; empty if no price is known."""
        if self.price is None:
            return ""
        return f"${self.spent_in_all:.2f}" + ("" if self.limit is None else f" of ${self.limit:.2f}")

    def at(self, price: Price | None) -> Budget:
        """An account for what is left of this one, at another price; `take_over` books its spending here."""
        other = Budget(price, self.limit)
        other.spent_before, other._log = self.spent_in_all, self._log
        return other

    def bound(self, body: Mapping[str, Any], output_tokens: int) -> float:
        """Upper bound of a request's cost: a token has at least one byte. Infinite if it is too long for the price."""
        if self.price is None:
            return 0.0
        tokens = len(json.dumps(body)) + WRAPPING
        too_long = tokens > self.price.up_to_input_tokens
        return float("inf") if too_long else self.price.of(Usage(tokens, output_tokens))

    def hold(self, dollars: float) -> bool:
        """Set an upper bound aside; returns False if the limit could be exceeded."""
        if self.limit is not None and self.spent_in_all + self.held + dollars > self.limit:
            return False
        self.held += dollars
        self.under_way += 1
        return True

    def exhausted(self) -> Fault:
        """The outcome of a request that the limit does not allow."""
        return Fault("budget", f"${self.spent_in_all:.4f} of ${self.limit} are spent by this run; raise budget_usd")

    def settle(self, held: float, usage: Usage | None, *, billable: bool = True) -> float | None:
        """Release what was set aside for a request and book its cost: all of it, if the usage is unknown.

        Args:
            billable: False for a request that the server rejected.
        """
        self.under_way -= 1
        self.held = self.held - held if self.under_way else 0.0  # sums of floats leave a remainder
        return self.book(usage, held if billable else 0.0)

    def book(self, usage: Usage | None, otherwise: float = 0.0) -> float | None:
        """Add the cost of a request to what is spent and return it; `otherwise` is its cost if `usage` is None."""
        if usage is not None:
            self.tokens += usage
        cost = None
        if self.price is not None:
            cost = otherwise if usage is None else self.price.of(usage)
            self.spent += cost
        if self._log and (usage is not None or cost):
            self._log.append(usage, cost)
        return cost

    def take_over(self, other: Budget) -> None:
        """Book what another account has spent and recorded, at its own price, and clear that account."""
        self.spent += other.spent
        self.tokens += other.tokens
        other.spent, other.tokens = 0.0, Usage(0, 0)

    @property
    def totals(self) -> dict[str, Any]:
        """Tokens and dollars for a manifest; dollars are None if no price is known."""
        return {
            "input_tokens": self.tokens.input,
            "cached_input_tokens": self.tokens.cached,
            "output_tokens": self.tokens.output,
            "dollars": None if self.price is None else round(self.spent, 6),
            "prices_of": self.price.date if self.price else None,
        }
