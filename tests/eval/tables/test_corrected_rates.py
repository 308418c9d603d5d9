"""The cells of corrected rates and the judge's error: what is clipped, unknown or flattered is said."""

from __future__ import annotations

from eval.model_comparison.correction import Correction, JudgeError
from eval.model_comparison.labelled_sample import LabelledSample
from eval.stats.corrected_rates import Estimate, LabelledRow
from eval.stats.rates import Interval
from eval.tables.corrected_rates import _estimate, judges_table


def test_an_estimate_tells_its_own_rows_and_whether_it_is_clipped() -> None:
    known = Estimate(0.4, Interval(0.31, 0.5))
    assert _estimate(known, 60).text == "40.0 [31.0, 50.0] n=60"
    assert _estimate(known, None).text == "40.0 [31.0, 50.0]"
    clipped = _estimate(Estimate(0.0, Interval(0.0, 0.04), clipped=True), None)
    assert (clipped.text, clipped.value, clipped.low, clipped.high) == ("0.0 [0.0, 4.0] clipped", 0.0, 0.0, 4.0)


def test_an_unknown_estimate_is_no_number_and_says_why() -> None:
    cell = _estimate(Estimate(None, None, "no labelled row"), 0)
    assert cell.text == "\u2014 (no labelled row)" and cell.value is cell.low is cell.high is None


def error(judge: str, fitted: float = 0.0, no: int = 50) -> JudgeError:
    yes = [LabelledRow(place < 40, True, place) for place in range(50)]
    return JudgeError(judge, (*yes, *(LabelledRow(place < 5, False, -1 - place) for place in range(no))), 3, fitted)


def test_each_judge_has_its_error_and_a_fitted_one_a_caution() -> None:
    correction = Correction(LabelledSample({}, {}), (error("a"), error("b", fitted=0.25, no=0)), {})
    table = judges_table(correction)
    first, second = ([cell.text for cell in row] for row in table.rows)
    assert first[:4] == ["a", "100", "3", "50"]
    assert first[4].startswith("80.0 [") and first[5].startswith("90.0 [") and first[5].endswith("n=50")
    assert second[5] == "\u2014 n=0"
    assert table.notes[-1].startswith("CAUTION: b was fitted on the queries of 25% of the labelled items")
    assert sum("CAUTION" in note for note in table.notes) == 1
