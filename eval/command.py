"""How a command ends: 0 when it did its work, 2 with a line that says why it could not, 130 on Ctrl-C.

    @command(stopped=GOES_ON)
    def main(argv: list[str] | None = None) -> int: ...

It knows no command. Anything but a named error is a defect of ours and keeps its traceback.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec

from eval.config import ConfigError

P = ParamSpec("P")

UNUSABLE, INTERRUPTED = 2, 130
GOES_ON = "every finished row is kept, and the same command goes on from there"
"""What Ctrl-C means to a command that resumes."""


def command(
    *, stopped: str = "run it again", unusable: tuple[type[Exception], ...] = (ConfigError,)
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Let a `main` that returns its exit status end as every command does.

    Args:
        stopped: what became of the work when Ctrl-C stops it.
        unusable: the exceptions of `main` that mean settings or input that cannot work.
    """

    def ending(main: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(main)
        def ended(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                return main(*args, **kwargs)
            except unusable as error:
                print(f"error: {error}", file=sys.stderr)
                return UNUSABLE
            except KeyboardInterrupt:
                print(f"\nstopped; {stopped}", file=sys.stderr)
                return INTERRUPTED

        return ended

    return ending
