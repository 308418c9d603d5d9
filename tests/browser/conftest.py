"""A real headless Chromium, and reports of hostile runs to open in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import Field

from eval.config import Config
from eval.dialogue import Dialogue
from eval.report import report
from eval.rows import RowStore
from eval.run_dir import RunDir
from eval.summary import summarise

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SWITCHES = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@dataclass
class Visit:
    """An open page with all that it did: every request, dialog, error and message of its console."""

    page: Page
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.context.on("request", lambda request: self.requests.append(request.url))
        self.page.context.on("page", lambda page: self.complaints.append(f"opened {page.url}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def focused(self, attribute: str) -> str:
        """An attribute of the element that has the focus."""
        return str(self.page.evaluate("name => document.activeElement[name]", attribute))

    @property
    def count(self) -> str:
        return self.page.locator("#count").inner_text()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium; with none, or no playwright to drive it, the tests are skipped."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium on the PATH; `make test-system` installs Debian's")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright; run `make setup`")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, chromium_sandbox=False, args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens a file or an address in a fresh profile, in a window of 1200 x 900 unless told otherwise."""
    contexts = []

    def visit(place: Path | str, width: int = 1200, height: int = 900, **settings: Any) -> Visit:
        context = chromium.new_context(viewport={"width": width, "height": height}, **settings)
        contexts.append(context)
        visit = Visit(context.new_page())
        visit.watch()
        visit.page.goto(place if isinstance(place, str) else place.as_uri())
        return visit

    yield visit
    for context in contexts:
        context.close()


class FolderConfig(Config):
    """What `RunDir` needs of a configuration."""

    run_dir: Path = Field(description="folder")
    name: str | None = Field(None, description="name of the run in tables")


def write_run(folder: Path, rows: list[Dialogue], model: str, temperature: float, name: str | None) -> Path:
    """A finished run folder by the writers of a probe."""
    sampling = {"temperature": temperature, "top_p": 1.0, "top_k": 0, "max_tokens": 96, "seed": 0}
    protocol = {"model": model, "format": "smollm2", "template_sha": "0", "history": "as_history"}
    protocol |= {"answers": {**sampling, "temperature": 0.0}, "sampling": sampling, "judge": "local-1"}
    protocol |= {"perturbation": None, "answers_from": None}
    with RunDir(folder, FolderConfig(run_dir=folder, name=name), protocol, {"seed": 0, "tasks": {}}) as run:
        with RowStore(folder / "rows.jsonl") as store:
            for row in rows:
                store.append(row.id, row)
        run.finish({"tasks": [asdict(summary) for summary in summarise(rows)]})
    return folder


@dataclass
class Bench:
    """`python -m eval.review` in a process of its own."""

    process: subprocess.Popen[str]
    address: str
    store: Path


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """(rows) -> a bench with all of them, of reviewer Ada; without rows, the same one started again."""
    started: list[Bench] = []

    def start(rows: list[Dialogue] | None = None, annotator: tuple[str, ...] = ("--annotator", "Ada")) -> Bench:
        run = tmp_path / "run"
        if rows is not None:
            write_run(run, rows, "tiny@0123", 0.5, name=None)
        command = [sys.executable, "-m", "eval.review", str(run), "--sample", "all", *annotator]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
        started.append(Bench(process, address, run / "review.sqlite"))
        assert address, "the bench did not start"
        return started[-1]

    yield start
    for bench in started:
        bench.process.kill()
        bench.process.communicate()


@pytest.fixture
def make_report(tmp_path: Path) -> Callable[..., Path]:
    """(rows of run A, rows of run B, ...) -> the report of such runs, which differ in temperature."""

    def make(*runs: list[Dialogue], model: str = "tiny@0123") -> Path:
        return report([write_run(tmp_path / f"run{n}", rows, model, 0.5 * n, name=None) for n, rows in enumerate(runs)])

    return make


@pytest.fixture
def report_models(tmp_path: Path) -> Callable[..., Path]:
    """(Base=rows, SFT=rows, ...) -> the report of runs of these names, each of a model of its own."""

    def make(**runs: list[Dialogue]) -> Path:
        return report([write_run(tmp_path / name, rows, f"model@{name}", 0.0, name) for name, rows in runs.items()])

    return make
