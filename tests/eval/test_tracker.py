"""A tracker is a file; its options are those of its constructor; ids are kept."""

from __future__ import annotations

import pytest

from eval import plugin
from eval.config import ConfigError, Plugin
from eval.plugin_fields import check_tracker
from eval.tracker import AXES, Content, data_files, flat, run_id

MEMBERS = ("log", "table", "used", "made", "files", "close")


@pytest.mark.parametrize("name", plugin.names("eval.trackers"))
def test_every_tracker_keeps_the_contract(name) -> None:
    made = plugin.load("eval.trackers", name).Tracker
    assert all(callable(getattr(made, member)) for member in MEMBERS)


def test_options_are_those_of_the_tracker() -> None:
    given = check_tracker(Plugin(name="wandb", project="p", mode="offline"))
    assert given.options == {"project": "p", "mode": "offline"}
    for wrong in (
        {"name": "wandb", "entiti": 1},
        {"name": "trackio", "mode": "offline"},
        {"name": "none", "project": "p"},
    ):
        with pytest.raises(ConfigError, match="unknown key"):
            check_tracker(Plugin(**wrong))
    with pytest.raises(ValueError, match="eval/trackers has none, trackio, wandb"):
        check_tracker(Plugin(name="tensorboard"))


def test_metrics_are_flat_and_unknown_ones_left_out() -> None:
    assert dict(flat({"a": {"b": {"c": 1}, "d": None}, "e": 0.0})) == {"a/b/c": 1, "e": 0.0}


def test_an_id_is_made_once(tmp_path) -> None:
    first = run_id(tmp_path, "x_run_id")
    assert len(first) == 16 and run_id(tmp_path, "x_run_id") == first


def test_contents_are_named_by_what_is_in_them() -> None:
    (content,) = data_files({"data/x.jsonl": "ab" * 32})
    assert content == Content("dataset", "ab" * 32, "data/x.jsonl") and content.name == "dataset-abababababab"
    assert len(set(AXES)) == 4
