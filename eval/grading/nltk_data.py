"""Locates the NLTK data that the checkers of IFEval and IFBench need, before anything is graded."""

from __future__ import annotations

from pathlib import Path

from eval.sources import data_folder

RESOURCES = {
    "punkt_tab": "tokenizers/punkt_tab/english/",
    "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng/",
    "stopwords": "corpora/stopwords",
}
"""NLTK's name of each package -> its path in a folder of NLTK data."""


def find_nltk_data(data_dir: Path | None = None) -> None:
    """Add `nltk_data` in the data folder to the end of NLTK's search path; downloads nothing.

    Raises:
        FileNotFoundError: a package is not on the search path; the message has the command that downloads it.
    """
    import nltk

    folder = data_folder(data_dir)
    nltk_folder = str((folder or Path("DIR")) / "nltk_data")
    if folder and nltk_folder not in nltk.data.path:
        nltk.data.path.append(nltk_folder)
    if missing := [name for name, path in RESOURCES.items() if not _is_available(path)]:
        raise FileNotFoundError(
            f"NLTK's {', '.join(missing)} not found in {', '.join(nltk.data.path)}; on a machine with network run "
            f"`python -m nltk.downloader -d {nltk_folder} {' '.join(missing)}`, then set NLTK_DATA to that folder, "
            "or --data-dir or USERTURN_DATA to its parent"
        )


def _is_available(path: str) -> bool:
    import nltk

    try:
        nltk.data.find(path)
    except LookupError:
        return False
    return True
