"""Collectives over processes: run on the main process and share the result, or wait; no-ops with one process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def is_node_main() -> bool:
    """Whether this is the first process of its machine. Each machine reports its own errors, such as a missing file."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def wait_for_all() -> None:
    """Wait until every process has called this."""
    from accelerate import PartialState

    PartialState().wait_for_everyone()


def run_on_main(find: Callable[[], T]) -> T:
    """Call `find` on the main process and return its result, or raise its exception, on every process.

    Every process must call this together.
    """
    from accelerate import PartialState
    from accelerate.utils import broadcast_object_list

    shared: list[Any] = [None, None]
    if PartialState().is_main_process:
        try:
            shared[0] = find()
        except (Exception, KeyboardInterrupt) as error:  # the other processes are waiting for a result
            shared[1] = error
    broadcast_object_list(shared, from_process=0)
    result, raised = shared
    if raised is not None:
        raise raised
    return result  # type: ignore[no-any-return]
