"""What tests on real weights and on several processes share."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def deepspeed() -> None:
    """Skips where DeepSpeed cannot run; elsewhere its first start compiles an extension, for minutes."""
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no C++ compiler: DeepSpeed compiles an extension on a machine without a GPU")
