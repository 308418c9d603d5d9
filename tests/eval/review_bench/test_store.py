"""The store: decisions only ever added, undone one by one, and read back as they stand."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.review_bench.decision import Decision
from eval.review_bench.items import ReviewItem
from eval.review_bench.store import ReviewStore

ItemOf = Callable[..., ReviewItem]


def test_items_come_back_as_they_were_in_their_order(store: ReviewStore) -> None:
    items = dict(store.items())
    assert list(items) == [1, 2, 3] and items[2] == store.item(2) and store.count == 3
    assert items[2].judgements[1].judge == "j1" and items[2].turn.finish == "stop"
    with pytest.raises(KeyError):
        store.item(4)


def test_the_last_decision_of_a_kind_stands(store: ReviewStore) -> None:
    store.record("Ada", 1, label="other", seconds=2.5)
    assert store.decisions("Ada") == {1: Decision("other", None, 2.5)}
    store.record("Ada", 1, genuine=False, seconds=1.0)
    store.record("Ada", 1, label="meta_planning")
    store.record("Ben", 1, genuine=True)
    assert store.decisions("Ada") == {1: Decision("meta_planning", False, 3.5)}
    assert store.decisions("Ben") == {1: Decision(None, True, None)}
    assert store.annotators() == ["Ada", "Ben"] and store.decisions("Cyd") == {}


def test_undo_takes_back_one_decision_after_the_other_and_loses_none(store: ReviewStore) -> None:
    store.record("Ada", 1, label="other")
    store.record("Ada", 1, label="meta_planning")
    store.record("Ada", 2, genuine=True)
    store.record("Ben", 3, genuine=True)
    assert store.undo("Ada") == 2 and store.decisions("Ada") == {1: Decision("meta_planning")}
    assert store.undo("Ada") == 1 and store.decisions("Ada") == {1: Decision("other")}
    store.record("Ada", 3, genuine=False)
    assert [store.undo("Ada") for _ in range(3)] == [3, 1, None]
    assert store.decisions("Ada") == {} and store.decisions("Ben") == {3: Decision(None, True)}
    kept = sqlite3.connect(store.path).execute("SELECT COUNT(*), COUNT(undoes) FROM decisions").fetchone()
    assert kept == (9, 4)


def test_what_is_no_decision_is_refused_and_nothing_is_kept(store: ReviewStore) -> None:
    for wrong in ({"label": "nice"}, {}, {"label": "other", "genuine": True}):
        with pytest.raises(ValueError):
            store.record("Ada", 1, **wrong)
    with pytest.raises(ValueError, match="item 4"):
        store.record("Ada", 4, genuine=True)
    assert store.annotators() == []


def test_another_process_sees_a_decision_at_once(store: ReviewStore) -> None:
    store.record("Ada", 1, label="other")
    with ReviewStore(store.path) as other:
        assert other.decisions("Ada") == store.decisions("Ada") and other.protocol == store.protocol


def test_no_store_is_made_over_something_or_by_halves(tmp_path: Path, item_of: ItemOf) -> None:
    path = tmp_path / "new" / "review.sqlite"

    class Broken:
        def to_json(self) -> dict[str, object]:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        ReviewStore.create(path, [item_of(1), Broken()], {"sample": "all"})
    assert list(path.parent.iterdir()) == []
    with ReviewStore.create(path, [item_of(1)], {"sample": "all"}) as store:
        store.record("Ada", 1, genuine=True)
    with pytest.raises(ConfigError, match="it already exists"):
        ReviewStore.create(path, [item_of(2)], {"sample": "all"})
    assert list(path.parent.iterdir()) == [path]
    with ReviewStore(path) as store:
        assert store.decisions("Ada")


def test_what_is_no_review_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="start one with"):
        ReviewStore(tmp_path / "nowhere.sqlite")
    (tmp_path / "text").write_text("not a database, but long enough to be looked at by SQLite" * 20)
    with pytest.raises(ConfigError, match="can't be used"):
        ReviewStore(tmp_path / "text")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE x (y)").connection.commit()
    with pytest.raises(ConfigError, match="not a review of this version"):
        ReviewStore(tmp_path / "other.sqlite")
