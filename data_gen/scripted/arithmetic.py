"""Equations written out in a response, such as "48/2 = 24": whether they hold, and variants with another number."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

NUMBER = r"\$?\d[\d,]*(?:\.\d+)?"
BEFORE = r"(?<![\w.,$])(?<![-+*/x\u00d7\u00f7\u2212])(?<![-+*/x\u00d7\u00f7\u2212]\s)"
"""Not inside a number and not after an operator: "1/2 x 8 = 4" and "7 + 5 + 1 = 13" have more than two operands."""
SUM = re.compile(
    rf"{BEFORE}(({NUMBER})\s*([-+*/x\u00d7\u00f7\u2212])\s*({NUMBER}))\s*=\s*({NUMBER})(?![\d.]*\s*[-+*/x\u00d7\u00f7=%])"
)
OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "\u2212": operator.sub,
    "*": operator.mul,
    "x": operator.mul,
    "\u00d7": operator.mul,
    "/": operator.truediv,
    "\u00f7": operator.truediv,
}


@dataclass(frozen=True)
class Sum:
    """An equation with one operation on two numbers, as written in the text."""

    left: str
    first: str
    sign: str
    second: str
    result: str

    @property
    def expression(self) -> str:
        return f"{self.left} = {self.result}"

    @property
    def true_result(self) -> str:
        return self._result(value_of(self.first))

    @property
    def holds(self) -> bool:
        """Whether the result is correct to the number of decimal places it is written with."""
        places = len(self.result.partition(".")[2])
        difference = OPERATIONS[self.sign](value_of(self.first), value_of(self.second)) - value_of(self.result)
        return round(difference, places) == 0

    def changed(self) -> Sum:
        """The same equation with another first number and its result; the number is a function of the equation."""
        value = value_of(self.first)
        step = Fraction(10) ** max(0, len(str(int(value))) - 2)
        digits = sum(int(digit) for digit in self.first if digit.isdigit())
        other = (value + 2 * step, 2 * value, value + 5 * step, value + step)[digits % 4]
        first = format_number(other, self.first)
        return Sum(f"{first} {self.sign} {self.second}", first, self.sign, self.second, self._result(other))

    def _result(self, first: Fraction) -> str:
        return format_number(OPERATIONS[self.sign](first, value_of(self.second)), self.result)


def sums(text: str) -> Iterator[Sum]:
    """Every equation of two numbers in `text`, except divisions by zero."""
    for found in SUM.finditer(text):
        sum = Sum(*found.groups())
        if sum.sign not in "/\u00f7" or value_of(sum.second):
            yield sum


def value_of(number: str) -> Fraction:
    """The value of a number such as "$1,200.50"."""
    return Fraction(number.strip("$").replace(",", ""))


def format_number(value: Fraction, like: str) -> str:
    """`value` with at most two decimal places, and with a dollar sign if `like` has one."""
    digits = f"{abs(float(round(value, 2))):.2f}".rstrip("0").rstrip(".")
    return ("-" if value < 0 else "") + ("$" if like.startswith("$") else "") + digits
