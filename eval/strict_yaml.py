"""YAML loading that rejects duplicate keys in a mapping, where PyYAML silently keeps the last one."""

from __future__ import annotations

from typing import Any

import yaml


def load(text: str) -> Any:
    """The content of a YAML document.

    Raises:
        YAMLError: the text is not valid YAML, or has a duplicate key; the message names the line.
    """
    return yaml.load(text, Loader=_Loader)


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    problem = f"duplicate key {key.value!r}"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)
