"""NLTK's data is found in the data folder, or the error has the command that downloads it."""

from __future__ import annotations

from pathlib import Path

import nltk
import pytest

from eval.grading.nltk_data import RESOURCES, find_nltk_data


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """NLTK has no search path of its own."""
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.delenv("USERTURN_DATA", raising=False)


def _packages(folder: Path, *names: str) -> None:
    for name in names:
        (folder / "nltk_data" / RESOURCES[name]).mkdir(parents=True)


def test_the_folder_in_the_data_folder_is_added_once(tmp_path: Path) -> None:
    _packages(tmp_path, *RESOURCES)
    find_nltk_data(tmp_path)
    find_nltk_data(tmp_path)
    find_nltk_data()
    assert nltk.data.path == [str(tmp_path / "nltk_data")]


def test_a_missing_package_is_named_with_its_command(tmp_path: Path) -> None:
    _packages(tmp_path, "punkt_tab", "stopwords")
    with pytest.raises(FileNotFoundError) as caught:
        find_nltk_data(tmp_path)
    command = f"python -m nltk.downloader -d {tmp_path}/nltk_data averaged_perceptron_tagger_eng`"
    assert command in str(caught.value) and "NLTK_DATA" in str(caught.value)


def test_without_a_data_folder_everything_is_missing() -> None:
    with pytest.raises(FileNotFoundError, match="punkt_tab, averaged_perceptron_tagger_eng, stopwords not found"):
        find_nltk_data()
