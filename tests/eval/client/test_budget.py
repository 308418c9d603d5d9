from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eval.client.budget import PRICES, Budget, Price, price_of
from eval.client.chat_reply import Usage
from eval.client.spending import SpendingLog, spent_in
from eval.config import ConfigError

PRICE = Price(input=2.0, cached_input=0.5, output=10.0, up_to_input_tokens=100_000, date="2026-01-01")


def test_the_table_is_dated_and_whole() -> None:
    table = yaml.safe_load(PRICES.read_text())
    assert str(table["date"]) > "2026" and table["models"]
    for entry in table["models"].values():
        assert set(entry) == {"input", "cached_input", "output"}


@pytest.mark.parametrize("model", ["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"])
def test_a_dated_version_costs_what_its_model_does(model: str) -> None:
    price = price_of(f"{model}-2026-03-17")
    assert price == price_of(model) and price is not None
    assert 0 < price.cached_input < price.input < price.output
    half = price_of(model, batch=True)
    assert half is not None and half.input == price.input / 2 and half.output == price.output / 2


def test_an_unknown_price_is_none_and_no_budget_can_be_held_without_one(tmp_path: Path) -> None:
    table = tmp_path / "prices.yaml"
    entry = "{input: null, cached_input: null, output: 1}"
    table.write_text(f"date: 2026-01-01\nbatch_factor: 1\nup_to_input_tokens: 9\nmodels: {{m: {entry}}}\n")
    assert price_of("m", path=table) is None and price_of("llama") is None and price_of("gpt-5.4-maxi") is None
    with pytest.raises(ConfigError, match=r"\$5.*no price is known.*prices\.yaml"):
        Budget(None, 5)
    assert Budget(None).settle(0.0, Usage(10, 10)) is None


def test_cached_input_is_cheaper() -> None:
    assert PRICE.of(Usage(1_000_000, 100_000)) == pytest.approx(3.0)
    assert PRICE.of(Usage(1_000_000, 100_000, cached=1_000_000)) == pytest.approx(1.5)


def test_an_unknown_outcome_is_booked_at_its_upper_bound_and_a_refusal_at_nothing() -> None:
    budget = Budget(PRICE, 1.0)
    assert budget.hold(0.4) and budget.hold(0.5) and not budget.hold(0.2)
    assert budget.settle(0.5, None, billable=False) == 0.0
    assert budget.settle(0.4, None) == 0.4
    assert (budget.spent, budget.held) == (pytest.approx(0.4), pytest.approx(0.0))


def test_no_bound_is_given_where_no_price_holds() -> None:
    budget = Budget(PRICE, 1.0)
    assert not budget.hold(budget.bound({"messages": "x" * 100_000}, 10))


@given(st.text(), st.integers(1, 1000))
def test_no_request_costs_more_than_its_bound(text: str, output: int) -> None:
    bound = Budget(PRICE).bound({"messages": [text]}, output)
    assert bound >= PRICE.of(Usage(len(text.encode("utf-8", "replace")), output))


@given(st.lists(st.tuples(st.floats(0.001, 0.5), st.integers(0, 4000), st.booleans())))
def test_the_limit_is_never_passed(requests: list[tuple[float, int, bool]]) -> None:
    budget = Budget(PRICE, 1.0)
    under_way = []
    for hold, output, settle in requests:
        if budget.hold(hold):
            under_way.append((hold, Usage(0, min(output, int(hold * 1e6 / PRICE.output)))))
        if settle and under_way:
            budget.settle(*under_way.pop(0))
        assert budget.spent + budget.held <= 1.0 + 1e-9


def test_the_totals_say_where_the_prices_are_from() -> None:
    budget = Budget(PRICE)
    budget.hold(0.0)
    budget.settle(0.0, Usage(1000, 100, 200))
    assert budget.totals == {
        "input_tokens": 1000,
        "cached_input_tokens": 200,
        "output_tokens": 100,
        "dollars": pytest.approx(0.0027),
        "prices_of": "2026-01-01",
    }
    assert Budget().totals["dollars"] is None


def test_an_account_takes_over_what_another_has_spent_at_its_own_price(tmp_path: Path) -> None:
    half = Budget(price_of("gpt-5.4-nano", batch=True), 1.0)
    half.resume(SpendingLog(tmp_path, "judge"))
    half.book(None, 0.25)
    full = half.at(price_of("gpt-5.4-nano"))
    assert not full.hold(0.8) and full.hold(0.7)
    cost = full.settle(0.7, Usage(1000, 10))
    half.take_over(full)
    half.take_over(full)
    assert half.spent == pytest.approx(0.25 + cost) and half.tokens == Usage(1000, 10) and full.spent == 0
    assert spent_in(tmp_path)["judge"]["dollars"] == pytest.approx(half.spent)


def test_what_earlier_processes_have_spent_is_in_the_limit_and_not_in_the_totals(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        SpendingLog(tmp_path / folder, "judge").append(Usage(5, 5), 0.3)
    budget = Budget(PRICE, 1.0)
    for folder in ("a", "b", "a"):
        budget.resume(SpendingLog(tmp_path / folder, "judge"))
    assert budget.spent_in_all == pytest.approx(0.6) and str(budget) == "$0.60 of $1.00"
    assert not budget.hold(0.5) and budget.hold(0.3)
    budget.settle(0.3, None)
    budget.resume(SpendingLog(tmp_path / "a", "judge"))
    assert budget.spent_in_all == pytest.approx(0.9) and budget.totals["dollars"] == 0.3
    assert (spent_in(tmp_path / "a")["judge"]["requests"], spent_in(tmp_path / "b")["judge"]["requests"]) == (2, 1)
    assert budget.exhausted().kind == "budget" and "$0.9000 of $1.0" in budget.exhausted().detail


def test_a_refused_request_is_not_recorded(tmp_path: Path) -> None:
    budget = Budget(PRICE, 1.0)
    budget.resume(SpendingLog(tmp_path, "judge"))
    budget.hold(0.5)
    budget.settle(0.5, None, billable=False)
    assert spent_in(tmp_path) == {} and str(budget) == "$0.00 of $1.00" and str(Budget()) == ""
