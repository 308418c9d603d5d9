"""Exit behaviour of commands: status 0 on success, 2 with a one-line error for unusable input, 130 on Ctrl-C.

    @command(stopped=RESUMES)
    def main(argv: list[str] | None = None) -> int: ...

The status is 141, as for SIGPIPE, if the reader of standard output has gone. Any other exception is a bug and keeps its
traceback.
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
RESUMES = "every finished row is kept; the same command resumes"
"""The message after Ctrl-C of a command that can resume."""


def command(
    *,
    stopped: str = "run it again",
    unusable: tuple[type[Exception], ...] = (ConfigError,),
    speaks: Callable[[], bool] = lambda: True,
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Decorate `main` with the exit behaviour that all commands share.

    Args:
        stopped: the message after Ctrl-C: what became of the work.
        unusable: the exceptions of `main` that mean unusable settings or input.
        speaks: whether this process prints why it ends; among several that end alike, one is enough.
    """

    def decorate(main: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(main)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                status = main(*args, **kwargs)
                sys.stdout.flush()
                return status
            except BrokenPipeError:
                if _has_reader(sys.stdout):
                    raise
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes stdout at exit
                return UNREAD
            except unusable as error:
                if speaks():
                    print(f"error: {error}", file=sys.stderr)
                return UNUSABLE
            except KeyboardInterrupt:
                if speaks():
                    print(f"\nstopped; {stopped}", file=sys.stderr)
                return INTERRUPTED

        return run

    return decorate


def _has_reader(stream: TextIO) -> bool:
    """Whether the pipe still has a reader; `| head`, for example, closes it early."""
    poll = select.poll()
    poll.register(stream.fileno(), 0)  # report only errors
    return not poll.poll(0)
