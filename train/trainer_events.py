"""A trainer's events as calls of plain functions, so that a listener needs no heavy import.

    listener(on_log=lambda state, logs: ..., on_save=lambda state: ...)

Events: `on_train_begin`, `on_step_end`, `on_log`, `on_save` and the others of transformers' `TrainerCallback`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import TrainerCallback


class Stop(Exception):
    """Raised by an event function to end training after the current step.

    Raised by `on_train_begin`, it propagates out of `Trainer.train`, which would make a step before it checks the flag.
    """

    def __init__(self, save: bool = False) -> None:
        super().__init__()
        self.save = save
        """Whether to save a checkpoint of that step as well."""


def listener(**functions: Callable[..., None]) -> TrainerCallback:
    """A callback that calls each function on the event of its name, with the state (`on_log`: and the logs)."""
    from transformers import TrainerCallback

    def handler(name: str, function: Callable[..., None]) -> Callable[..., Any]:
        def event(self: Any, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> Any:
            try:
                function(state, logs) if name == "on_log" else function(state)
            except Stop as stop:
                if name == "on_train_begin":
                    raise
                control.should_training_stop = True
                control.should_save |= stop.save
            return control

        return event

    events = {name: handler(name, function) for name, function in functions.items()}
    if unknown := [name for name in events if not hasattr(TrainerCallback, name)]:
        raise ValueError(f"a trainer has no event {unknown[0]}")
    callback: TrainerCallback = type("Listener", (TrainerCallback,), events)()
    return callback
