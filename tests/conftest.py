"""Fixtures shared by all tests. No test reaches a model hub."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"

REPOSITORY = Path(__file__).parent.parent
SMOLLM2 = REPOSITORY / "models" / "SmolLM2-135M-Instruct"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the work tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The folder of small real weights."""
    if not SMOLLM2.is_dir():
        pytest.skip(f"no {SMOLLM2}; make it with `make model`")
    return SMOLLM2


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The optional folder of real data files, $USERTURN_DATA or ../shared/data."""
    folder = Path(os.environ.get("USERTURN_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data folder {folder}; set USERTURN_DATA")
    return folder
