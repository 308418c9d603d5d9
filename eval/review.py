"""Label user turns of finished runs by hand, blind: neither their author nor any judgement is shown.

    python -m eval.review RUN... --sample balanced:200
    python -m eval.review RUN... --export gold.jsonl
    python -m eval.review RUN... --agreement

Serves a web page on this machine only and prints its address. Every decision is saved at once in `review.sqlite` of the
first RUN, and the same command resumes the review. How to label: docs/review.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eval.command import command
from eval.config import ConfigError
from eval.finished_runs import read_runs
from eval.review_bench.items import find_items
from eval.review_bench.sampling import Sample, draw
from eval.review_bench.store import ReviewStore

ABOUT = "Label user turns of finished runs by hand, blind, in a browser on this machine; export them as a gold file."
STOPPED = "every decision is saved; the same command resumes the review"
SAMPLE, SEED = "balanced:200", 0


@command(stopped=STOPPED)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0."""
    options = _parser().parse_args(argv)
    annotator = _annotator(options.annotator)
    with _store(options) as store:
        if options.export:
            _export(store, options.export, annotator)
        elif options.agreement:
            from eval.review_bench.reviewer_agreement import agreement_table
            from eval.table_formats import to_terminal

            print(to_terminal([agreement_table(store)]))
        else:
            from eval.review_bench.serving import serve

            serve(store, annotator, options.port)
    return 0


def _store(options: argparse.Namespace) -> ReviewStore:
    """The existing review, or a new one of the sample."""
    if not options.runs and not options.store:
        raise ConfigError("give the folder of a finished run, or the --store of a review")
    path = options.store or options.runs[0] / "review.sqlite"
    wanted = {"sample": options.sample and str(Sample.parse(options.sample)), "seed": options.seed}
    if path.exists():
        store = ReviewStore(path)
        differing = [name for name, value in wanted.items() if value not in (None, store.protocol[name])]
        if differing:
            existing = ", ".join(f"--{name} {store.protocol[name]}" for name in differing)
            raise ConfigError(f"{path} holds a review with {existing}; resume it with that, or choose another --store")
        if options.runs and not (options.export or options.agreement):
            _check_runs(options.runs, store)
        return store
    if options.export or options.agreement or not options.runs:
        return ReviewStore(path)
    return _begin(options, path)


def _begin(options: argparse.Namespace, path: Path) -> ReviewStore:
    sample, seed = Sample.parse(options.sample or SAMPLE), SEED if options.seed is None else options.seed
    found = find_items(read_runs(options.runs), options.allow_gpqa_text)
    items = draw(found.items, sample, seed)
    left_out = "".join(f", {count} {why}" for why, count in found.left_out.items())
    print(f"{len(items)} of {len(found.items)} distinct user turns{left_out}; stored in {path}", flush=True)
    protocol = {"sample": str(sample), "seed": seed, "gated": options.allow_gpqa_text}
    return ReviewStore.create(path, items, protocol)


def _check_runs(folders: list[Path], store: ReviewStore) -> None:
    """Raise a `ConfigError` if the runs no longer yield the items of the review."""
    found = find_items(read_runs(folders), store.protocol["gated"])
    items = draw(found.items, Sample.parse(store.protocol["sample"]), store.protocol["seed"])
    if [item.dialogue.id for item in items] != [item.dialogue.id for _, item in store.items()]:
        raise ConfigError(
            f"{store.path} was created from other runs or rows; resume it with `python -m eval.review --store "
            f"{store.path}`, or choose another --store"
        )


def _export(store: ReviewStore, path: Path, annotator: str | None) -> None:
    from eval.review_bench.gold_export import export_gold

    done = export_gold(store, path, annotator)
    print(f"{path}: {done.written} items; left out {done.undecided} undecided and {done.disputed} disputed")


def _annotator(given: str | None) -> str | None:
    from eval.review_bench.app import reviewer

    name = None if given is None else reviewer(given)
    if given is not None and name is None:
        raise ConfigError(f"--annotator {given!r} is not a valid name: 1 to 40 letters, digits, spaces, dots, hyphens")
    return name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.review", description=ABOUT, allow_abbrev=False)
    parser.add_argument("runs", type=Path, nargs="*", metavar="RUN", help="folder of a finished run")
    parser.add_argument("--store", type=Path, metavar="FILE", help="default: review.sqlite in the first RUN")
    parser.add_argument(
        "--sample",
        help=f"random:N keeps the prevalence, balanced:N has as many genuine as not, or all (default {SAMPLE})",
    )
    parser.add_argument("--seed", type=int, help=f"seed of the sample and its order (default {SEED})")
    parser.add_argument(
        "--annotator",
        metavar="NAME",
        help="name of the reviewer (default: the page asks), or whose decisions to export (default: the majority's)",
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    parser.add_argument(
        "--allow-gpqa-text", action="store_true", help="review turns of gated data sets too; keep such files private"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--export", type=Path, metavar="FILE", help="write the labelled items as a gold file")
    instead.add_argument("--agreement", action="store_true", help="print the agreement of reviewers and judges")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
