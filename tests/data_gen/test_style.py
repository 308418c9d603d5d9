"""Every style file is valid, and an unknown name is reported with the known ones."""

from __future__ import annotations

import pytest

from data_gen.style import read_styles, style_names
from eval.config import ConfigError


def test_every_style_loads() -> None:
    styles = read_styles(style_names())
    assert len(styles) >= 9
    for name, style in styles.items():
        assert style.name == name and style.about.endswith(".") and style.user.strip() and style.assistant.strip()
        assert len(style.scripted.user) >= 3 and style.scripted.assistant


def test_some_styles_follow_up_and_some_do_not() -> None:
    follows = [style.follows_up for style in read_styles(style_names()).values()]
    assert sum(follows) >= 7 and follows.count(False) == 2


@pytest.mark.parametrize("name", ["claryfy", "../styles/extend", ""])
def test_an_unknown_style_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigError, match="clarify_step"):
        read_styles([name])
