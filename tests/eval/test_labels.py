from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval.labels import ALWAYS_GENUINE, LABELS, NEVER_GENUINE, SPECIFIC, check_label
from eval.paper.published import read_paper

GUIDE = Path(__file__).parents[2] / "docs" / "labels.md"


def test_the_guide_marks_the_six_failure_names_of_the_paper():
    published = set(read_paper().tables["table6"].rows)
    starred = set(re.findall(r"^\| `(\w+)` \| \*", GUIDE.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(published) == 6
    assert set(LABELS) > published == starred


def test_specific_is_genuine_and_generic_is_genuine_but_not_specific():
    assert SPECIFIC < ALWAYS_GENUINE
    assert {"generic_followup"} == ALWAYS_GENUINE - SPECIFIC


def test_no_label_is_both_always_and_never_genuine():
    assert not ALWAYS_GENUINE & NEVER_GENUINE
    assert set(LABELS) > ALWAYS_GENUINE | NEVER_GENUINE


def test_debris_comes_first_and_other_last():
    names = list(LABELS)
    assert names[0] == "malformed_artifact"
    assert names[-1] == "other"


@pytest.mark.parametrize("label", ["genuine", "", None, 3, ["other"], {"other": 1}])
def test_an_unknown_label_is_an_error_that_lists_the_known(label):
    with pytest.raises(ValueError, match="new_task_prompt"):
        check_label(label)


def test_the_guide_explains_every_label_in_the_order_of_precedence():
    guide = GUIDE.read_text(encoding="utf-8")
    places = [guide.index(f"| `{label}` |") for label in LABELS]
    assert places == sorted(places)
