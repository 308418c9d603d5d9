"""Sampling is timed per token of a row, in one batch of prompts of different lengths."""

from __future__ import annotations

from train.checks.sampling_speed import TOKENS, seconds_per_sampled_token


def test_the_time_of_a_batch_is_shared_by_its_tokens(tiny_model, monkeypatch) -> None:
    model, now = tiny_model(), iter([0.0, 9.0, 10.0, 26.0])
    monkeypatch.setattr("train.checks.sampling_speed.time.monotonic", lambda: next(now))
    generate, made = model.generate, []

    def recorded(**settings):
        made.append(generate(**settings))
        return made[-1]

    monkeypatch.setattr(model, "generate", recorded)
    assert seconds_per_sampled_token(model, [[3, 4, 5], [6, 7]]) == 16.0 / (2 * TOKENS)
    assert [ids.shape for ids in made] == [(2, 3 + 1), (2, 3 + TOKENS)]
