"""With one process, `run_on_main` is a plain call, and only the first process of a machine reports errors."""

from __future__ import annotations

import pytest

from eval.config import ConfigError
from train.main_process import is_node_main, run_on_main


def test_the_result_is_returned() -> None:
    assert run_on_main(lambda: {"accuracy": 0.5}) == {"accuracy": 0.5}
    assert run_on_main(lambda: None) is None


def test_an_exception_is_raised() -> None:
    def refuse() -> None:
        raise ConfigError("the key is refused")

    with pytest.raises(ConfigError, match="the key is refused"):
        run_on_main(refuse)


def test_the_first_process_of_each_machine_speaks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from train import rl, sft

    for rank, told in ((None, True), ("0", True), ("1", False)):
        monkeypatch.delenv("LOCAL_RANK", raising=False)
        if rank is not None:
            monkeypatch.setenv("LOCAL_RANK", rank)
        assert is_node_main() is told
        for command in (sft, rl):
            assert command.main(["--config", "nowhere.yaml"]) == 2
            assert ("nowhere.yaml" in capsys.readouterr().err) is told
