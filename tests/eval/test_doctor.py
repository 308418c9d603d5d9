"""The command itself: bad usage ends with 2, and help is quick; what it finds is tested in preflight/."""

from __future__ import annotations

import subprocess
import sys

import pytest

from eval.doctor import main


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\n", "is not a configuration of"),
        ("model: m\nformat: smollm2\nrun_dir: r\ntasks: {pocket: {}}\nanswer: 1\n", "unknown key 'answer'"),
        ("- 1\n", "holds a list"),
    ],
)
def test_what_cannot_be_read_is_bad_usage(tmp_path, capsys, text, told) -> None:
    (tmp_path / "c.yaml").write_text(text)
    assert main(["--config", str(tmp_path / "c.yaml")]) == 2
    assert told in capsys.readouterr().err


def test_processes_are_for_training(tmp_path, capsys) -> None:
    text = "model: m\nformat: smollm2\nrun_dir: r\ntasks: {pocket: {}}\n"
    (tmp_path / "c.yaml").write_text(text)
    assert main(["--config", str(tmp_path / "c.yaml"), "--processes", "2"]) == 2
    assert "eval.probe runs in one process; leave --processes out" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--config", str(tmp_path / "c.yaml"), "--processes", "0"])
    assert "--processes: '0' is not a whole number above 0" in capsys.readouterr().err


def test_no_file_is_bad_usage(capsys) -> None:
    assert main(["--config", "none.yaml"]) == 2
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2


def test_help_loads_nothing_heavy(repository) -> None:
    code = (
        "import sys\nfrom eval.doctor import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({'torch', 'transformers', 'trl', 'peft', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert "--config FILE" in done.stdout and done.stdout.endswith("[]\n")
