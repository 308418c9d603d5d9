"""The planner's command line: readable, as JSON, and with errors that say what to change."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from eval.plan import main
from eval.stats.planning import rows_for_pairs, rows_for_two_samples


def test_two_samples_and_the_paper_s_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--base", "0.01", "--difference", "0.05"]) == 0
    printed = capsys.readouterr().out
    assert "1 % against 6 %, power 80 %, level 5 %" in printed
    assert "211 rows in each of two independent samples" in printed
    assert "n =   300    1.3  IFBench" in printed


def test_pairs_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--base", "0.4", "--difference", "0.1", "--paired", "--discordant", "0.2", "--family", "5"]
    assert main([*arguments, "--power", "0.9", "--n", "93", "198", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["rows_paired"] == rows_for_pairs(0.4, 0.1, 0.2, power=0.9, alpha=0.01)
    assert "rows_in_each" not in plan
    assert list(plan["half_widths"]) == ["93", "198"]
    assert plan["half_widths"]["93"]["half_width"] == pytest.approx(0.0976, abs=5e-4)


def test_half_widths_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--base", "0.5", "--n", "100"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "half-width in points of the 95 % interval (Wilson) at a rate of 50 %",
        "  n =   100    9.6",
    ]


def test_a_family_needs_more_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--base", "0.1", "--difference", "0.1", "--family", "10"]) == 0
    assert f"{rows_for_two_samples(0.1, 0.1, alpha=0.005)} rows in each" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--base", "5", "--n", "10"], "error: rate 5 must lie between 0 and 1; 5 points are 0.05"),
        (["--base", "0.5", "--difference", "0"], "error: difference is 0"),
        (["--base", "0.5", "--n", "0"], "error: n is 0; an interval needs at least one row"),
        (["--base", "0.5", "--difference", "0.1", "--discordant", "0.3"], "add --paired"),
        (["--base", "0.5", "--family", "0"], "at least one test"),
    ],
)
def test_errors_say_what_to_change(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_help_needs_no_heavy_import() -> None:
    code = "import sys; from eval.plan import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print({'numpy', 'scipy', 'statsmodels', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--difference" in done.stdout and done.stdout.endswith("set()\n")
