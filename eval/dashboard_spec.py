"""A workspace and a report of Weights & Biases that show Base, SFT and RL side by side. Builds them; sends nothing.

They show what runs of `report_to: wandb` log: `eval/TASK/RATE` over `eval/temperature`, `probe/TASK/RATE` and `train/*`
over `train/global_step`, and the tables `table2`, `eval/labels` and `episodes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval.labels import LABELS
from eval.tracker import AXES

if TYPE_CHECKING:
    from wandb_workspaces.reports.v2 import Report
    from wandb_workspaces.workspaces import Workspace

TASKS = ("gsm8k", "ifbench", "gpqa_diamond", "healthbench", "coval")
"""Those of Table 2."""
RATES = ("genuine", "specific", "accuracy")
TITLE = "Base, SFT and RL"


@dataclass(frozen=True)
class Part:
    """Panels under a heading."""

    title: str
    about: str
    panels: list[Any]


def parts(tasks: Sequence[str]) -> list[Part]:
    """What workspace and report both show, in order."""
    return [
        Part("Table 2", "Rates of each model as it was evaluated; the verdicts are in table2.md.", _table2(tasks)),
        Part("Rates over training", "The held-out probe at checkpoints, loss and rewards.", _over_training(tasks)),
        Part("Rates over temperatures", "Genuine and specific follow-ups; one point a run.", _over_temperatures(tasks)),
        Part(
            "Label shares",
            "What user turns are: a rate that rises by one label may be a hack.",
            _labels(tasks),
        ),
        Part("Episodes", "What the policy said, and what it was credited.", _episodes()),
    ]


def workspace(project: str, entity: str, tasks: Sequence[str], group: str | None) -> Workspace:
    """Runs grouped by experiment and job type, beside the parts as sections."""
    import wandb_workspaces.workspaces as ws

    sections = [ws.Section(name=part.title, panels=part.panels, is_open=True) for part in parts(tasks)]
    grouped: list[Any] = [ws.Metric("Group"), ws.Metric("JobType")]
    settings = ws.RunsetSettings(groupby=grouped, filters=_of_group(group))
    return ws.Workspace(entity=entity, project=project, name=TITLE, sections=sections, runset_settings=settings)


def report(project: str, entity: str, tasks: Sequence[str], group: str | None) -> Report:
    """The parts under headings, each with its runs."""
    import wandb_workspaces.reports.v2 as wr

    blocks: list[Any] = [wr.TableOfContents()]
    for part in parts(tasks):
        runs = wr.Runset(name="runs", filters=_of_group(group))  # of the report's own project
        blocks += [wr.H2(part.title), wr.P(part.about), wr.PanelGrid(runsets=[runs], panels=part.panels)]
    return wr.Report(project=project, entity=entity, title=TITLE, description=f"Project {project}", blocks=blocks)


def _of_group(group: str | None) -> str:
    """The filter of an experiment: Python text, in which wandb-workspaces would take a "=" of its name for its own."""
    return "Group == " + repr(group).replace("=", r"\x3d") if group else ""


def _table2(tasks: Sequence[str]) -> list[Any]:
    import wandb_workspaces.reports.v2 as wr

    bars = [wr.BarPlot(title=f"{rate}", metrics=[f"eval/{task}/{rate}" for task in tasks]) for rate in RATES]
    return [wr.WeavePanelSummaryTable(table_name="table2"), *bars]


def _over_training(tasks: Sequence[str]) -> list[Any]:
    import wandb_workspaces.reports.v2 as wr

    step = AXES["sft"]
    probes = [
        wr.LinePlot(title=f"{task}: held-out probe", x=step, y=[f"probe/{task}/{rate}" for rate in RATES])
        for task in tasks
    ]
    return [
        wr.LinePlot(title="loss", x=step, y=["train/loss"]),
        wr.LinePlot(title="rewards", x=step, metric_regex="^train/rewards/.*/mean$"),
        *probes,
    ]


def _over_temperatures(tasks: Sequence[str]) -> list[Any]:
    import wandb_workspaces.reports.v2 as wr

    return [
        wr.ScatterPlot(
            title=f"{task}: {rate}",
            x=wr.SummaryMetric(AXES["eval"]),
            y=wr.SummaryMetric(f"eval/{task}/{rate}"),
        )
        for task in tasks
        for rate in ("genuine", "specific")
    ]


def _labels(tasks: Sequence[str]) -> list[Any]:
    import wandb_workspaces.reports.v2 as wr

    bars = [wr.BarPlot(title=task, metrics=[f"eval/{task}/labels/{label}" for label in LABELS]) for task in tasks]
    over_steps = wr.LinePlot(
        title="of episodes", x=AXES["rl"], metric_regex="^train/labels/.*", plot_type="stacked-area"
    )
    return [wr.WeavePanelSummaryTable(table_name="eval/labels"), over_steps, *bars]


def _episodes() -> list[Any]:
    import wandb_workspaces.reports.v2 as wr

    step = AXES["rl"]
    return [
        wr.WeavePanelSummaryTable(table_name="episodes"),
        wr.LinePlot(title="different user turns", x=step, y=["train/distinct_share"]),
        wr.LinePlot(title="tokens of a turn", x=step, metric_regex="^train/tokens/.*"),
        wr.LinePlot(title="turns cut off", x=step, metric_regex="^train/cut_off/.*"),
    ]
