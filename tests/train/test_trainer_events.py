"""Plain functions receive a trainer's events and can end training."""

from __future__ import annotations

import pytest

from train.trainer_events import Stop, listener


@pytest.fixture
def control():
    from transformers import TrainerControl

    return TrainerControl()


def test_a_function_hears_the_state_and_the_logs(control):
    heard = []
    made = listener(on_save=heard.append, on_log=lambda state, logs: heard.append((state, logs)))
    made.on_save("args", "state", control, model=None)
    made.on_log("args", "state", control, logs={"loss": 1.0})
    made.on_step_end("args", "state", control)
    assert heard == ["state", ("state", {"loss": 1.0})] and not control.should_training_stop


def test_stop_ends_training(control):
    def stop(state):
        raise Stop

    stopped = listener(on_step_end=stop).on_step_end("args", "state", control)
    assert stopped.should_training_stop and not stopped.should_save


def test_stop_may_ask_for_a_checkpoint_of_the_step(control):
    def stop(state):
        raise Stop(save=True)

    stopped = listener(on_step_end=stop).on_step_end("args", "state", control)
    assert stopped.should_training_stop and stopped.should_save


def test_stop_before_the_first_step_goes_to_the_caller_since_a_trainer_would_make_a_step(control):
    def stop(state):
        raise Stop

    with pytest.raises(Stop):
        listener(on_train_begin=stop).on_train_begin("args", "state", control)


def test_an_event_that_there_is_not_is_an_error():
    with pytest.raises(ValueError, match="no event on_lunch"):
        listener(on_lunch=print)
