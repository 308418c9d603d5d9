"""How a command ends: 0 when it did its work, 2 with a line that says why it could not, 130 on Ctrl-C.

    @command(stopped=GOES_ON)
    def main(argv: list[str] | None = None) -> int: ...

It ends with 141, as SIGPIPE does, when nobody reads on what it prints. It knows no command. Anything but a named error
is a defect of ours and keeps its traceback.
"""

from __future__ import annotations

import functools
import os
import select
import sys
from collections.abc import Callable
from typing import ParamSpec, TextIO

from eval.config import ConfigError

P = ParamSpec("P")

UNUSABLE, INTERRUPTED, UNREAD = 2, 130, 141
GOES_ON = "every finished row is kept, and the same command goes on from there"
"""What Ctrl-C means to a command that resumes."""


def command(
    *,
    stopped: str = "run it again",
    unusable: tuple[type[Exception], ...] = (ConfigError,),
    speaks: Callable[[], bool] = lambda: True,
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Let a `main` that returns its exit status end as every command does.

    Args:
        stopped: what became of the work when Ctrl-C stops it.
        unusable: the exceptions of `main` that mean settings or input that cannot work.
        speaks: whether this process says why it ends; of several that end alike, one is enough.
    """

    def ending(main: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(main)
        def ended(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                status = main(*args, **kwargs)
                sys.stdout.flush()
                return status
            except BrokenPipeError:
                if _has_reader(sys.stdout):
                    raise
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
                return UNREAD
            except unusable as error:
                if speaks():
                    print(f"error: {error}", file=sys.stderr)
                return UNUSABLE
            except KeyboardInterrupt:
                if speaks():
                    print(f"\nstopped; {stopped}", file=sys.stderr)
                return INTERRUPTED

        return ended

    return ending


def _has_reader(stream: TextIO) -> bool:
    """Whether someone still reads; `| head` stops when it has seen enough."""
    poll = select.poll()
    poll.register(stream.fileno(), 0)  # errors alone
    return not poll.poll(0)
