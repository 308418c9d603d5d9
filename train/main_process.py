"""What one process of a run finds out, told to all, and where processes wait: with one process, just a call."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def is_node_main() -> bool:
    """Whether this is the only process or the first of its machine: what another machine lacks is told there."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def wait_for_all() -> None:
    """Wait until every process has called this."""
    from accelerate import PartialState

    PartialState().wait_for_everyone()


def run_on_main(find: Callable[[], T]) -> T:
    """What `find` returns in the main process, in every process; what it raises is raised in every process.

    All processes call it together.
    """
    from accelerate import PartialState
    from accelerate.utils import broadcast_object_list

    told: list[Any] = [None, None]
    if PartialState().is_main_process:
        try:
            told[0] = find()
        except (Exception, KeyboardInterrupt) as error:  # the others wait for a word
            told[1] = error
    broadcast_object_list(told, from_process=0)
    found, raised = told
    if raised is not None:
        raise raised
    return found  # type: ignore[no-any-return]
