"""YAML that people write: a key that stands twice in a mapping is an error, where PyYAML lets the last one win."""

from __future__ import annotations

from typing import Any

import yaml


def load(text: str) -> Any:
    """What a document holds.

    Raises:
        YAMLError: it is no YAML, or has a key twice; the message names the line.
    """
    return yaml.load(text, Loader=_Loader)


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    said = f"the key {key.value!r} stands twice"
                    raise yaml.constructor.ConstructorError(None, None, said, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)
