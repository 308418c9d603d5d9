"""Table 7: agreement between judges on the user turns of finished runs, next to the paper's numbers.

    python -m eval.table7 --judges local,grounding RUN... [--out DIR]
    python -m eval.table7 --judges local,openai:gpt-5.4-nano-2026-03-17 --openai.budget_usd 5 RUN...

Every generated user turn of the runs is judged by each judge. Judgements are stored in DIR, so that a killed command
resumes; the judgements of a run's own judge are reused. A judge on a server takes its model after a colon, and its
options as --openai.OPTION VALUE.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval import plugin, progress, table_formats
from eval.client.spender import start_spending
from eval.command import RESUMES, command
from eval.config import ConfigError, Plugin
from eval.finished_runs import read_runs
from eval.judge_choice import chosen_judge, refuse_unbounded
from eval.panel_agreement import RatedPanel
from eval.paper.writing import WRITERS
from eval.rejudging import Rejudging, open_store, read_panel, refuse_one_judge
from eval.run_dir import write_atomically
from eval.tables.table7 import build

PROG = "python -m eval.table7"
ABOUT = "Judge the user turns of finished runs with several judges, and print their agreement: Table 7."


@command(stopped=RESUMES)
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0."""
    own, of_judges = _split(sys.argv[1:] if argv is None else argv)
    options = _parser().parse_args(own)
    configs = judge_configs(options.judges.split(","), of_judges)
    judges = [plugin.load("eval.judges", config.name).Judge(**config.options) for config in configs]
    refuse_one_judge([judge.id for judge in judges])
    panel = read_panel(read_runs(options.runs))
    with open_store(options.out) as store:
        rejudged = [Rejudging(panel, judge, store) for judge in judges]
        for config, judge, one in zip(configs, judges, rejudged, strict=True):
            refuse_unbounded(config, judge, len(one.missing()), where=config.name)
        for judge in judges:
            start_spending(judge.id, judge, options.out)
        for one in rejudged:
            one.judge(progress.shown)
        results = {judge.id: tuple(one.results()) for judge, one in zip(judges, rejudged, strict=True)}
    tables = build(RatedPanel(panel.ids, panel.contexts, results))
    for ending, render in WRITERS.items():
        write_atomically(options.out / f"table7.{ending}", render(tables))
    print(table_formats.to_terminal(tables))
    for judge in judges:
        if judge.measured:
            print(f"{judge.id} has used: {', '.join(f'{name} {value}' for name, value in judge.measured.items())}")
    print(f"{len(panel.ids)} user turns; {panel.left_out} rows have none. Written to {options.out}")
    return 0


def judge_configs(names: Sequence[str], options: Sequence[tuple[str, str]]) -> list[Plugin]:
    """The judges named "local" or "openai:MODEL", each with the options of its kind, ("openai.concurrency", "8").

    Raises:
        ConfigError: a judge is unknown, a judge has no such option, or an option belongs to none of these judges.
    """
    kinds = [name.partition(":")[0] for name in names]
    for option, _ in options:
        if option.partition(".")[0] not in kinds:
            raise ConfigError(
                f"--{option} is not an option of {', '.join(dict.fromkeys(kinds))}; write --JUDGE.OPTION VALUE"
            )
    if unknown := [kind for kind in kinds if kind not in plugin.names("eval.judges")]:
        raise ConfigError(f"--judges: unknown {unknown[0]!r}; known are {', '.join(plugin.names('eval.judges'))}")
    configs = []
    for name, kind in zip(names, kinds, strict=True):
        model = name.partition(":")[2]
        arguments = ["--judge", kind, *(["--judge.model", model] if model else [])]
        for option, value in options:
            if option.startswith(f"{kind}."):
                arguments += [f"--judge{option.removeprefix(kind)}", value]
        configs.append(chosen_judge(arguments, PROG, where=kind))
    return configs


def _split(argv: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The command's own arguments, and those of judges: `--openai.concurrency 8` or `--openai.concurrency=8`."""
    own: list[str] = []
    of_judges: list[tuple[str, str]] = []
    tokens = iter(argv)
    for token in tokens:
        name, equals, value = token.partition("=")
        if not name.startswith("--") or "." not in name:
            own.append(token)
            continue
        given = value if equals else next(tokens, None)
        if given is None:
            raise ConfigError(f"{name} needs a value")
        of_judges.append((name[2:], given))
    return own, of_judges


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(PROG, description=ABOUT, allow_abbrev=False)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--judges",
        required=True,
        metavar="JUDGE,JUDGE",
        help=f"two or more of {', '.join(plugin.names('eval.judges'))}; openai:MODEL; the first defines the slices",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/table7"), metavar="DIR", help="folder for judgements and table"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
