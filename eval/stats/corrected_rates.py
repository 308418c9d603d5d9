"""The true rate behind a judge's: Rogan and Gladen's estimate and the prediction-powered one, with the judge's error.

It knows counts, no judge and no table. What it can say depends on where the labelled rows come from:

- of another population (other models' turns): they tell the judge's sensitivity and specificity alone, `rogan_gladen`.
  The estimate is right only if the judge errs on the measured rows as often as on the labelled ones.
- a random draw of the measured rows: `prediction_powered`, which is right whatever the judge does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.stats.rates import Interval, Rate, wilson


@dataclass(frozen=True)
class Estimate:
    """An estimated proportion in [0, 1] and its interval; both None where the rows can't tell, and then `why`."""

    point: float | None
    interval: Interval | None
    why: str = ""
    clipped: bool = False
    """Whether the point or an end lay outside [0, 1] and was put on the border."""


@dataclass(frozen=True)
class Detection:
    """A sensitivity or a specificity: a share of right decisions and how many independent ones it is worth."""

    share: float
    n: float

    @classmethod
    def of(cls, right: Sequence[int], items: Sequence[int]) -> Detection | None:
        """From (C,) right decisions and (C,) items of each context; None without items.

        Items of one context rise and fall together, so `n` is the number of items over the design effect: the variance
        of the share between contexts over that of as many independent items. Where all decisions are right, or all
        wrong, nothing shows how they vary, and a context counts as one item.

        Source: Kish 1965, Survey Sampling, sections 5.4 and 8.2.
        """
        total, contexts = sum(items), sum(count > 0 for count in items)
        if not total:
            return None
        share = sum(right) / total
        if share in (0.0, 1.0) or contexts < 2:
            return cls(share, contexts)
        residuals = sum((hit - share * count) ** 2 for hit, count in zip(right, items, strict=True))
        between = residuals * contexts / (contexts - 1) / total**2
        return cls(share, min(total, share * (1 - share) / between) if between else total)


def rogan_gladen(
    observed: Rate, sensitivity: Detection | None, specificity: Detection | None, confidence: float = 0.95
) -> Estimate:
    """The rate of true cases, (observed + specificity - 1) / (sensitivity + specificity - 1), clipped to [0, 1].

    The interval carries the sampling error of all three shares: the delta method on adjusted counts, by Lang and
    Reiczigel. Coverage in simulation: `benchmarks/coverage.py`.

    Returns:
        None with the reason where a share is unknown, or where sensitivity and specificity add up to 1 or less: such a
        judge says yes to a true case no more often than to any other, so its rate tells nothing.

    Source: Rogan and Gladen 1978, https://doi.org/10.1093/oxfordjournals.aje.a112510; Lang and Reiczigel 2014,
    https://doi.org/10.1016/j.prevetmed.2013.09.015.
    """
    if observed.point is None:
        return Estimate(None, None, "no judged row")
    if sensitivity is None or specificity is None:
        return Estimate(None, None, f"no labelled item is {'genuine' if sensitivity is None else 'not genuine'}")
    told = sensitivity.share + specificity.share - 1
    if told <= 1e-12:
        return Estimate(None, None, "sensitivity and specificity add up to 1 or less")
    from scipy.stats import norm

    z = float(norm.ppf((1 + confidence) / 2))
    n = observed.n + z**2
    p = (observed.successes + z**2 / 2) / n
    n_yes, n_no = sensitivity.n + 2, specificity.n + 2
    yes, no = (sensitivity.share * sensitivity.n + 1) / n_yes, (specificity.share * specificity.n + 1) / n_no
    if yes + no - 1 <= 0:
        return Estimate(None, None, "too few labelled items to tell sensitivity and specificity from chance")
    centre = (p + no - 1) / (yes + no - 1)
    errors = (centre * yes * (1 - yes) / n_yes, (1 - centre) * no * (1 - no) / n_no)
    middle = centre + 2 * z**2 * (errors[0] - errors[1])
    variance = p * (1 - p) / n + centre * errors[0] + (1 - centre) * errors[1]
    half = z * variance**0.5 / (yes + no - 1)
    return _clipped((observed.point + specificity.share - 1) / told, middle - half, middle + half)


@dataclass(frozen=True)
class LabelledRows:
    """How many labelled rows the judge and the label say what of: yes or no to genuine."""

    both: int
    only_judge: int
    only_label: int
    neither: int

    @property
    def n(self) -> int:
        """All of them."""
        return self.both + self.only_judge + self.only_label + self.neither


def prediction_powered(labelled: LabelledRows, judged: Rate, confidence: float = 0.95) -> Estimate:
    """The rate of yes labels among all `judged` rows, of which `labelled` is a random draw; PPI++, power-tuned.

    PPI++ adds to the mean label lambda times the difference of the judge's rates on the other rows and on the labelled
    ones. For yes-or-no decisions the lambda of least variance makes that q b + (1 - q) a: the judge's rate q over all
    rows, and the shares b and a of yes labels where the judge says yes and no (a test checks the identity). The
    interval combines those of q, b and a (Wilson) by the method of variance estimates recovery: PPI++'s own is
    symmetric, and too short where a handful of rows decide. A judge that says the same of all labelled rows tells
    nothing, and the estimate is the labels' mean with Wilson's interval.

    Raises:
        ValueError: more rows are labelled than judged, or with more decisions of a kind than there are.

    Source: Angelopoulos, Duchi and Zrnic 2023, https://arxiv.org/abs/2311.01453; the interval: Zou, Huang and Zhang
    2009, https://doi.org/10.1016/j.csda.2008.09.033.
    """
    said_yes, said_no = labelled.both + labelled.only_judge, labelled.only_label + labelled.neither
    if said_yes > judged.successes or said_no > judged.n - judged.successes:
        raise ValueError(f"{labelled} is no draw of {judged}")
    if not labelled.n or judged.point is None:
        return Estimate(None, None, "no labelled row")
    positive = labelled.both + labelled.only_label
    if not said_yes or not said_no:
        return Estimate(positive / labelled.n, wilson(positive, labelled.n, confidence))
    q, b, a = judged.point, labelled.both / said_yes, labelled.only_label / said_no
    parts = (
        (b - a, q, judged.interval(confidence)),
        (q, b, wilson(labelled.both, said_yes, confidence)),
        (1 - q, a, wilson(labelled.only_label, said_no, confidence)),
    )
    below = above = 0.0
    for weight, share, interval in parts:
        assert interval is not None
        down, up = weight * (share - interval.low), weight * (interval.high - share)
        below += (down if weight > 0 else up) ** 2
        above += (up if weight > 0 else down) ** 2
    point = q * b + (1 - q) * a
    return _clipped(point, point - below**0.5, point + above**0.5)


def _clipped(point: float, low: float, high: float) -> Estimate:
    """The estimate with point and ends inside [0, 1], the point between the ends."""
    inside = [min(1.0, max(0.0, value)) for value in (point, low, high)]
    outside = min(point, low) < -1e-12 or max(point, high) > 1 + 1e-12
    return Estimate(inside[0], Interval(min(inside[:2]), max(inside[0], inside[2])), clipped=outside)
