"""Rates corrected for a judge's errors: the Rogan-Gladen estimator and the prediction-powered estimator.

It knows counts, no judge and no table. Which estimator applies depends on where the labelled rows come from:

- from another population (other models' turns): they give only the judge's sensitivity and specificity; use
  `rogan_gladen`. It is unbiased only if the judge errs on the measured rows as often as on the labelled ones.
- a random sample of the measured rows: use `prediction_powered`, which is valid whatever the judge's errors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from eval.stats.rates import Interval, Rate


@dataclass(frozen=True)
class Estimate:
    """An estimated proportion in [0, 1] and its interval; both None if there is no estimate, for the reason `why`."""

    point: float | None
    interval: Interval | None
    why: str = ""
    clipped: bool = False
    """Whether the point or an end lay outside [0, 1] and was clipped."""


@dataclass(frozen=True)
class Share:
    """An observed share in [0, 1] and its effective sample size `n`."""

    point: float
    n: float

    @classmethod
    def of(cls, hits: Sequence[bool], weights: Sequence[float], contexts: Sequence[Hashable]) -> Share | None:
        """The weighted share of hits among N items; None without items.

        Because items of one context are correlated and weights are uneven, `n` is N divided by the design effect: the
        variance between the totals of contexts over the variance of N independent items. If every item or no item is a
        hit, that variance is zero, and `n` is Kish's effective number of contexts.

        Source: Kish 1965, Survey Sampling, sections 6.4 and 8.2; 11.7 for weights.
        """
        totals: dict[Hashable, list[float]] = {}
        for hit, weight, context in zip(hits, weights, contexts, strict=True):
            total = totals.setdefault(context, [0.0, 0.0])
            total[0] += weight * hit
            total[1] += weight
        if not totals:
            return None
        mass = sum(weight for _, weight in totals.values())
        point = sum(hit for hit, _ in totals.values()) / mass
        kish_n = mass**2 / sum(weight**2 for _, weight in totals.values())
        residuals = sum((hit - point * weight) ** 2 for hit, weight in totals.values())
        if all(hits) or not any(hits) or len(totals) < 2 or not residuals:
            return cls(point, kish_n)
        variance = residuals * len(totals) / (len(totals) - 1) / mass**2
        independent = point * (1 - point) / (len(hits) - 1)
        return cls(point, len(hits) * min(1.0, independent / variance))

    def interval(self, confidence: float = 0.95) -> Interval:
        """The Wilson interval at the effective sample size."""
        from statsmodels.stats.proportion import proportion_confint

        low, high = proportion_confint(self.point * self.n, self.n, alpha=1 - confidence, method="wilson")
        return Interval(min(self.point, float(low)), max(self.point, float(high)))


@dataclass(frozen=True)
class LabelledRow:
    """The judge's decision and the label of one row, and how many rows it represents in its sample."""

    judge: bool
    label: bool
    context: Hashable
    weight: float = 1.0


def sensitivity(rows: Sequence[LabelledRow]) -> Share | None:
    """The share of rows labelled yes that the judge also calls yes; None if no label is yes."""
    return _share([row for row in rows if row.label], lambda row: row.judge)


def specificity(rows: Sequence[LabelledRow]) -> Share | None:
    """The share of rows labelled no that the judge also calls no; None if no label is no."""
    return _share([row for row in rows if not row.label], lambda row: not row.judge)


def _share(rows: Sequence[LabelledRow], hit: Callable[[LabelledRow], bool]) -> Share | None:
    return Share.of([hit(row) for row in rows], [row.weight for row in rows], [row.context for row in rows])


def rogan_gladen(
    observed: Rate, sensitivity: Share | None, specificity: Share | None, confidence: float = 0.95
) -> Estimate:
    """The true rate, (observed + specificity - 1) / (sensitivity + specificity - 1), clipped to [0, 1].

    The interval includes the sampling error of all three shares: Lang and Reiczigel's delta method on adjusted counts.
    Coverage in simulation: `benchmarks/interval_coverage.py`.

    Returns:
        An estimate without a point if a share is unknown, or if sensitivity and specificity add up to 1 or less: such a
        judge says yes to a true case no more often than to a false one, so its rate is uninformative.

    Source: Rogan and Gladen 1978, https://doi.org/10.1093/oxfordjournals.aje.a112510; Lang and Reiczigel 2014,
    https://doi.org/10.1016/j.prevetmed.2013.09.015.
    """
    if observed.point is None:
        return Estimate(None, None, "no judged row")
    if sensitivity is None or specificity is None:
        return Estimate(None, None, f"no labelled item is {'genuine' if sensitivity is None else 'not genuine'}")
    youden = sensitivity.point + specificity.point - 1
    if youden <= 1e-12:
        return Estimate(None, None, "sensitivity and specificity add up to 1 or less")
    from scipy.stats import norm

    z = float(norm.ppf((1 + confidence) / 2))
    n = observed.n + z**2
    p = (observed.successes + z**2 / 2) / n
    n_yes, n_no = sensitivity.n + 2, specificity.n + 2
    yes, no = (sensitivity.point * sensitivity.n + 1) / n_yes, (specificity.point * specificity.n + 1) / n_no
    if yes + no - 1 <= 0:
        return Estimate(None, None, "too few labelled items to distinguish the judge from chance")
    centre = (p + no - 1) / (yes + no - 1)
    errors = (centre * yes * (1 - yes) / n_yes, (1 - centre) * no * (1 - no) / n_no)
    middle = centre + 2 * z**2 * (errors[0] - errors[1])
    variance = p * (1 - p) / n + centre * errors[0] + (1 - centre) * errors[1]
    half = z * variance**0.5 / (yes + no - 1)
    return _clip((observed.point + specificity.point - 1) / youden, middle - half, middle + half)


def prediction_powered(labelled: Sequence[LabelledRow], judged: Rate, confidence: float = 0.95) -> Estimate:
    """The rate of yes labels among all `judged` rows, of which `labelled` is a random sample; power-tuned PPI++.

    PPI++ adds to the mean label lambda times the difference between the judge's rates on the other rows and on the
    labelled ones. For binary decisions the lambda of least variance makes that q b + (1 - q) a: the judge's rate q over
    all rows, and the shares b and a of yes labels where the judge says yes and no (a test checks the identity). So the
    sample may be stratified by the judge's decision, and by anything else if its rows are weighted. The interval
    combines the Wilson intervals of q, b and a by the method of variance estimates recovery: PPI++'s own is symmetric
    and too narrow for few rows. If the judge gives all labelled rows one decision, it is uninformative, and the
    estimate is the labels' mean with its Wilson interval.

    Raises:
        ValueError: more rows are labelled than judged, or more of them have one decision than there are such rows.

    Source: Angelopoulos, Duchi and Zrnic 2023, https://arxiv.org/abs/2311.01453; the interval: Zou, Huang and Zhang
    2009, https://doi.org/10.1016/j.csda.2008.09.033.
    """
    said_yes = sum(row.judge for row in labelled)
    if said_yes > judged.successes or len(labelled) - said_yes > judged.n - judged.successes:
        raise ValueError(f"{len(labelled)} labelled rows, {said_yes} of them judged yes, are not a sample of {judged}")
    overall = _share(labelled, lambda row: row.label)
    if overall is None or judged.point is None:
        return Estimate(None, None, "no labelled row")
    where_yes, where_no = (
        _share([row for row in labelled if row.judge is decision], lambda row: row.label) for decision in (True, False)
    )
    if where_yes is None or where_no is None:
        return Estimate(overall.point, overall.interval(confidence))
    q, b, a = judged.point, where_yes.point, where_no.point
    own = judged.interval(confidence)
    assert own is not None
    parts = (
        (b - a, q, own),
        (q, b, where_yes.interval(confidence)),
        (1 - q, a, where_no.interval(confidence)),
    )
    below = above = 0.0
    for weight, share, interval in parts:
        down, up = weight * (share - interval.low), weight * (interval.high - share)
        below += (down if weight > 0 else up) ** 2
        above += (up if weight > 0 else down) ** 2
    point = q * b + (1 - q) * a
    return _clip(point, point - below**0.5, point + above**0.5)


def _clip(point: float, low: float, high: float) -> Estimate:
    """The estimate with point and ends clipped to [0, 1], and the point between the ends."""
    inside = [min(1.0, max(0.0, value)) for value in (point, low, high)]
    outside = min(point, low) < -1e-12 or max(point, high) > 1 + 1e-12
    return Estimate(inside[0], Interval(min(inside[:2]), max(inside[0], inside[2])), clipped=outside)
