"""What a judge says that one dialogue costs at most."""

from __future__ import annotations

from eval.client.budget import price_of
from eval.client.chat_reply import Usage
from eval.judges import local, openai

OPTIONS = {"base_url": "http://127.0.0.1:9/v1", "api_key_variable": None, "cache": None}


def test_a_judge_that_computes_is_free() -> None:
    assert local.Judge().cost_bound == 0.0


def test_a_model_without_a_price_has_no_bound() -> None:
    assert openai.Judge(model="judge-1", **OPTIONS).cost_bound is None


def test_the_bound_is_two_long_requests_at_the_price_of_the_model() -> None:
    price = price_of("gpt-5.4-mini")
    assert price is not None
    bound = openai.Judge(model="gpt-5.4-mini", max_completion_tokens=500, **OPTIONS).cost_bound
    assert bound is not None
    conversation = price.of(Usage(openai.LONGEST, 500)) + price.of(Usage(openai.LONGEST, 2000))
    instructions = price.of(Usage(2 * 8000, 0))
    assert conversation < bound < conversation + instructions
    batch = openai.Judge(model="gpt-5.4-mini", max_completion_tokens=500, mode="batch", **OPTIONS).cost_bound
    assert batch == bound / 2
