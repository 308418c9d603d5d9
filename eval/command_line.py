"""Loads a configuration from `--config FILE --some.field VALUE`: one YAML per run, any field overridable.

`some.field=VALUE` is equivalent, for job files. It knows no field: names, types and defaults come from the requested
configuration class (`eval/config.py`).
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from eval import strict_yaml
from eval.config import Config, ConfigError, Plugin, dump, validate
from eval.preflighting import exact_command_of

C = TypeVar("C", bound=Config)


def load(cls: type[C], argv: list[str], *, prog: str, about: str) -> C:
    """The configuration of a command line. Prints and exits for `--help` and `--print-config`.

    Raises:
        ConfigError: the file is missing or not a mapping, a key is unknown, or a value has the wrong type.
    """
    known, rest = _parser(cls, prog, about).parse_known_args([_hyphenated(_option(cls, token)) for token in argv])
    given = vars(known)
    path, print_config = given.pop("config"), given.pop("print_config")
    values = read_yaml(path) if path else {}
    for name, value in given.items():
        _set(values, name, _value(value))
    _spell_out_plugins(cls, values)
    for name, value in _pairs(cls, rest):
        _set(values, name, _value(value))
    config = _validate_with_file(cls, values, path) if path else _validate_without_file(cls, values)
    if print_config:
        print(dump(config), end="")
        raise SystemExit(0)
    return config


def _validate_with_file(cls: type[C], values: Mapping[str, Any], path: Path) -> C:
    """`validate`, with one line instead if the file is a configuration of another command."""
    try:
        return validate(cls, values)
    except ConfigError as error:
        written = read_yaml(path)
        if len(written.keys() - cls.model_fields.keys()) > 1 and (command := exact_command_of(written)):
            advice = f"run python -m {command} --config {path}"
            raise ConfigError(f"{path} is a configuration of {command}; {advice}") from error
        raise


def _validate_without_file(cls: type[C], values: Mapping[str, Any]) -> C:
    """`validate`, with a hint at the committed configurations if a required field is missing."""
    try:
        return validate(cls, values)
    except ConfigError as error:
        if all(name in values for name, field in cls.model_fields.items() if field.is_required()):
            raise
        raise ConfigError(f"{error}\nno --config was given; see configs/ for examples") from error


def _parser(cls: type[Config], prog: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog,
        description=about,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=120),
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="YAML holding any of the fields below")
    parser.add_argument("--print-config", action="store_true", help="print the resolved configuration and stop")
    group = parser.add_argument_group(
        "fields",
        "each can be set in the YAML or here, also as field=VALUE; the command line wins; null unsets; "
        "a NAME takes options: --field.option VALUE",
    )
    for name, field, default in _leaves(cls):
        silent = default in (None, {}, PydanticUndefined) or isinstance(default, Config)
        suffix = "" if silent else f" (default: {default})"
        switch: dict[str, Any] = {"nargs": "?", "const": "true"} if field.annotation is bool else {}
        group.add_argument(
            _hyphenated(f"--{name}"),
            **switch,
            dest=name,
            metavar=_kind(field),
            default=argparse.SUPPRESS,
            help=f"{field.description}{suffix}".replace("%", "%%"),
        )
    return parser


def _leaves(
    cls: type[BaseModel], prefix: str = "", defaults: BaseModel | None = None
) -> Iterator[tuple[str, FieldInfo, Any]]:
    """(dotted name, field, default) of the fields that hold one value, in the order of the class.

    The default comes from `defaults`, if the parent field has one. The keys of an open field are free to choose:
    `tasks.NAME.OPTION`.
    """
    for name, field in cls.model_fields.items():
        kind, default = field.annotation, field.default if defaults is None else getattr(defaults, name)
        if get_origin(kind) is dict:
            value = get_args(kind)[1]
            nested = any(get_origin(part) is dict or _has_fields(part) for part in (value, *get_args(value)))
            yield f"{prefix}{name}.NAME{'.OPTION' if nested else ''}", field, default
            continue
        below = next((part for part in (kind, *get_args(kind)) if _has_fields(part)), None)
        if below is not kind:
            yield prefix + name, field, default
        if below is not None:
            yield from _leaves(below, f"{prefix}{name}.", default if isinstance(default, BaseModel) else None)


def _has_fields(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, BaseModel) and kind is not Plugin


def _names_a_plugin(field: FieldInfo) -> bool:
    return Plugin in (field.annotation, *get_args(field.annotation))


def _kind(field: FieldInfo) -> str:
    kind = field.annotation
    if _names_a_plugin(field):
        return "NAME"
    if get_origin(kind) is dict:
        return "VALUE"
    if any(_has_fields(part) for part in get_args(kind)):
        return "null"
    name = kind.__name__ if inspect.isclass(kind) else str(kind)
    for noise in ("typing.", "pathlib.", " | None"):
        name = name.replace(noise, "")
    return name.removeprefix("Literal")


def _option(cls: type[Config], token: str) -> str:
    """`some.field=VALUE` as `--some.field=VALUE`."""
    name, equals, _ = token.partition("=")
    return f"--{token}" if equals and name.partition(".")[0].replace("-", "_") in cls.model_fields else token


def _hyphenated(token: str) -> str:
    """`--run_dir=a_b` as `--run-dir=a_b`, so that both spellings of an option work."""
    name, equals, value = token.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else token


def _pairs(cls: type[Config], tokens: list[str]) -> Iterator[tuple[str, str]]:
    """Options that the parser does not know, (`tasks.gsm8k.limit`, `50`), ..., which validation accepts or rejects."""
    rest = iter(tokens)
    for token in rest:
        if not token.startswith("--"):
            known = f"; fields are {', '.join(cls.model_fields)}" if "=" in token else ""
            raise ConfigError(f"unexpected argument {token!r}; write --some.field VALUE or some.field=VALUE{known}")
        name, equals, value = token[2:].partition("=")
        given = value if equals else next(rest, None)
        if given is None:
            raise ConfigError(f"--{name} needs a value")
        yield name.replace("-", "_"), given


def read_yaml(path: Path) -> dict[str, Any]:
    """The fields of a configuration file, without validation.

    Raises:
        ConfigError: the file is missing, not valid YAML, or not a mapping.
    """
    try:
        values = strict_yaml.load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise ConfigError(f"no configuration {path} ({error.strerror}); see configs/ for examples") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds a {type(values).__name__}; a configuration must map fields to values")
    return values


def _value(text: str) -> Any:
    """Lists, mappings and null parsed as YAML; any other text unchanged, to be converted by the field's type."""
    return yaml.safe_load(text) if text == "null" or text.startswith(("[", "{")) else text


def _spell_out_plugins(cls: type[BaseModel], values: dict[str, Any]) -> None:
    """Turn plugins given by name alone into mappings, to which options can be added."""
    for name, field in cls.model_fields.items():
        if _names_a_plugin(field) and isinstance(values.get(name), str):
            values[name] = {"name": values[name]}


def _set(values: dict[str, Any], dotted: str, value: Any) -> None:
    parents: list[str] = []
    key, rest = _next_key(values, dotted.split("."))
    while rest:
        parents.append(key)
        below = values.get(key)
        if below is None:
            below = values[key] = {}
        if not isinstance(below, dict):
            raise ConfigError(f"--{dotted}: {'.'.join(parents)} is {below!r}, which has no fields")
        values = below
        key, rest = _next_key(values, rest)
    values[key] = value


def _next_key(values: Mapping[str, Any], parts: list[str]) -> tuple[str, list[str]]:
    """The key of `values` that matches the longest prefix of `parts`, or else a new key, and the remaining parts.

    Keys in a file may contain hyphens ("smollm2-135m") and dots ("Qwen3.5-2B"); names on the command line are split at
    dots and have underscores.
    """
    for count in range(len(parts), 0, -1):
        spelled = ".".join(parts[:count])
        for key in values:
            if str(key).replace("-", "_") == spelled:
                return key, parts[count:]
    return parts[0], parts[1:]
