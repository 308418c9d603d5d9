"""Where NLTK's data lies: the files that the checkers of IFEval and IFBench read, found before anything is graded."""

from __future__ import annotations

from pathlib import Path

from eval.sources import data_folder

RESOURCES = {
    "punkt_tab": "tokenizers/punkt_tab/english/",
    "averaged_perceptron_tagger_eng": "taggers/averaged_perceptron_tagger_eng/",
    "stopwords": "corpora/stopwords",
}
"""NLTK's name of each package, and its path below a folder of NLTK data."""


def find_nltk_data(data_dir: Path | None = None) -> None:
    """Let NLTK look in `nltk_data` of the data folder too, after its own places; nothing is fetched.

    Raises:
        FileNotFoundError: a package is in none of those places; the message has the command that fetches it.
    """
    import nltk

    folder = data_folder(data_dir)
    beside = str((folder or Path("DIR")) / "nltk_data")
    if folder and beside not in nltk.data.path:
        nltk.data.path.append(beside)
    if missing := [name for name, path in RESOURCES.items() if not _found(path)]:
        raise FileNotFoundError(
            f"NLTK's {', '.join(missing)} not found in {', '.join(nltk.data.path)}; on a machine with network run "
            f"`python -m nltk.downloader -d {beside} {' '.join(missing)}`, then name that folder in NLTK_DATA "
            "or its parent as --data-dir or USERTURN_DATA"
        )


def _found(path: str) -> bool:
    import nltk

    try:
        nltk.data.find(path)
    except LookupError:
        return False
    return True
