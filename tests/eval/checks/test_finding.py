"""Checks are made in order; what needs a failed one is not checked, and nothing that goes wrong is lost."""

from __future__ import annotations

from eval.checks.finding import Check, Finding, examine, failed, is_go, passed, unchecked, warned
from eval.config import ConfigError


def raises(error: Exception):
    def look() -> Finding:
        raise error

    return look


def test_what_needs_a_failed_check_is_not_checked() -> None:
    checks = [
        Check("model", raises(ConfigError("no folder x; fetch it"))),
        Check("template", lambda: passed("fine"), needs=("model",)),
        Check("mask", lambda: passed("fine"), needs=("template",)),
        Check("disk", lambda: warned("little", "make room")),
    ]
    found = dict(examine(checks))
    assert found["model"] == failed("no folder x", "fetch it")
    assert found["template"] == unchecked("needs model") and found["mask"] == unchecked("needs template")
    assert found["disk"].status == "warn"
    assert not is_go(found.values())


def test_a_library_that_breaks_is_a_failure_with_its_error() -> None:
    ((_, finding),) = examine([Check("pins", raises(ImportError("libcudart.so.13: no such file")))])
    assert finding.status == "fail" and finding.told == "ImportError: libcudart.so.13: no such file"


def test_warnings_and_what_is_not_checked_stop_nothing() -> None:
    assert is_go([passed("a"), warned("b", "c"), unchecked("d")])
    assert not is_go([passed("a"), failed("b", "c")])


def test_advice_behind_a_sentence_is_told_apart() -> None:
    look = raises(ConfigError("no file x (ENOENT). On a machine with network run `hf download x`; or copy it"))
    ((_, finding),) = examine([Check("data", look)])
    assert finding.told == "no file x (ENOENT)" and finding.todo.startswith("On a machine with network run `hf")
