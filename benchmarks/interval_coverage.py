"""Coverage of the 95 % intervals of corrected rates, in simulation.

    python benchmarks/interval_coverage.py

Each line is one judge (sensitivity, specificity) and one true rate on N rows. Rogan-Gladen gets 400 labelled items of
another population, 36 % of them genuine; the prediction-powered estimate gets labels of a random sample of the rows
themselves, 100 or at most half of them. The coverage of the raw rate's Wilson interval is printed for comparison.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from dataclasses import dataclass

import numpy as np

from eval.stats.corrected_rates import Estimate, LabelledRow, Share, prediction_powered, rogan_gladen
from eval.stats.rates import Rate

SENSITIVITY, SPECIFICITY = (0.6, 0.8, 0.95), (0.8, 0.9, 0.99)
PREVALENCE = (0.02, 0.1, 0.3, 0.6)
ROWS = (93, 198, 300, 1319)
ITEMS, ITEMS_GENUINE = 400, 0.36
LABELLED = 100


@dataclass(frozen=True)
class Judge:
    """A judge with known errors, on rows with a known true rate."""

    sensitivity: float
    specificity: float
    prevalence: float
    rows: int


def simulate(judge: Judge, random: np.random.Generator) -> dict[str, tuple[Estimate, float]]:
    """Simulate one measurement: name -> the estimate and half the width of its interval."""
    true = random.random(judge.rows) < judge.prevalence
    judged = random.random(judge.rows) < np.where(true, judge.sensitivity, 1 - judge.specificity)
    observed = Rate(int(judged.sum()), judge.rows)
    genuine = int(random.binomial(ITEMS, ITEMS_GENUINE))
    correct = random.binomial([genuine, ITEMS - genuine], [judge.sensitivity, judge.specificity])
    shares = (Share(hits / items, items) for hits, items in zip(correct, (genuine, ITEMS - genuine), strict=True))
    sample = range(min(LABELLED, judge.rows // 2))
    labelled = [LabelledRow(bool(judged[row]), bool(true[row]), row) for row in sample]
    estimates = {
        "raw": Estimate(observed.point, observed.interval()),
        "Rogan-Gladen": rogan_gladen(observed, *shares),
        "prediction-powered": prediction_powered(labelled, observed),
    }
    widths = {name: (e.interval.high - e.interval.low) / 2 if e.interval else 0.0 for name, e in estimates.items()}
    return {name: (estimate, widths[name]) for name, estimate in estimates.items()}


def coverage(judge: Judge, repeats: int, seed: int = 0) -> dict[str, tuple[float, float, int]]:
    """Name -> the share of known intervals that contain the true rate, their mean half width, the number unknown."""
    random = np.random.default_rng([seed, *(int(1000 * value) for value in vars(judge).values())])
    covered: Counter[str] = Counter()
    known: Counter[str] = Counter()
    widths: Counter[str] = Counter()
    for _ in range(repeats):
        for name, (estimate, width) in simulate(judge, random).items():
            if estimate.interval is not None:
                known[name] += 1
                widths[name] += width
                covered[name] += estimate.interval.low <= judge.prevalence <= estimate.interval.high
    return {
        name: (covered[name] / known[name], widths[name] / known[name], repeats - known[name])
        for name in ("raw", "Rogan-Gladen", "prediction-powered")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    options = parser.parse_args()
    print("sens. spec.  true     N |   raw | Rogan-Gladen ±    unknown | prediction-powered ±")
    shares_by_name: dict[str, list[float]] = {}
    for values in itertools.product(SENSITIVITY, SPECIFICITY, PREVALENCE, ROWS):
        judge = Judge(*values)
        found = coverage(judge, options.repeats)
        (raw, _, _), (rogan, half, unknown), (powered, own_half, _) = found.values()
        settings = f"{judge.sensitivity:4.2f}  {judge.specificity:4.2f}  {judge.prevalence:4.2f}  {judge.rows:4d}"
        print(f"{settings} | {raw:5.3f} | {rogan:5.3f} {half:12.3f} {unknown:7d} | {powered:5.3f} {own_half:14.3f}")
        for name, (share, _, _) in found.items():
            shares_by_name.setdefault(name, []).append(share)
    for name, shares in shares_by_name.items():
        print(f"{name:18}: mean {np.mean(shares):.3f}, lowest {min(shares):.3f}, highest {max(shares):.3f}")


if __name__ == "__main__":
    main()
