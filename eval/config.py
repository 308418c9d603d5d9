"""Strict configuration: one YAML per run, any field on the command line; an unknown key is an error listing the known.

`load` turns `--config FILE --some.field VALUE` into a frozen pydantic model. A field that names a plugin is open: what
it may hold is the signature of the plugin's own function, which `options_for` checks.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails


class ConfigError(ValueError):
    """A setting that cannot work; the message says which one and what to do."""


class Config(BaseModel):
    """Base of every run's configuration: frozen, closed to unknown keys, and nested defaults may be set in part."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _complete_nested_defaults(cls, values: Any) -> Any:
        """`answers: {temperature: 1}` keeps the other fields of the default of `answers`."""
        if not isinstance(values, dict):
            return values
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        return {
            name: {**default.model_dump(), **value}
            if isinstance(value, dict) and isinstance(default := defaults.get(name), BaseModel)
            else value
            for name, value in values.items()
        }


class Plugin(BaseModel):
    """A plugin, by the name of its file, with the options that it takes; the name alone will do."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    def __str__(self) -> str:
        return self.name

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


C = TypeVar("C", bound=Config)


def load(cls: type[C], argv: list[str], *, prog: str, about: str) -> C:
    """The configuration that a command line asks for. Prints and exits on `--help` and on `--print-config`.

    Raises:
        ConfigError: no such file, no mapping in it, an unknown key, or a value of the wrong kind.
    """
    known, rest = _parser(cls, prog, about).parse_known_args([_hyphenated(token) for token in argv])
    given = vars(known)
    path, print_config = given.pop("config"), given.pop("print_config")
    values = _read_yaml(path) if path else {}
    for name, value in given.items():
        _set(values, name, _value(value))
    _spell_out_plugins(cls, values)
    for name, value in _pairs(rest):
        _set(values, name, _value(value))
    config = validate(cls, values)
    if print_config:
        print(dump(config), end="")
        raise SystemExit(0)
    return config


def validate(cls: type[C], values: Mapping[str, Any]) -> C:
    """Build `cls`, with every problem of `values` told in one `ConfigError`."""
    try:
        return cls.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(cls, problem) for problem in error.errors())) from error


def dump(config: Config) -> str:
    """The resolved configuration as YAML; loading it gives an equal one."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def options_for(
    function: Callable[..., Any], given: Mapping[str, Any], where: str, *, ours: Iterable[str] = ()
) -> dict[str, Any]:
    """`given` as keyword arguments of `function`, converted to the annotated types.

    Args:
        where: the path of `given` in the configuration, for messages.
        ours: parameters that the caller fills in and a configuration may not.

    Raises:
        ConfigError: an option that `function` does not take, or a value of the wrong kind.
    """
    parameters = inspect.signature(function).parameters
    known = [name for name in parameters if name not in {"self", *ours}]
    options = {}
    for name, value in given.items():
        if name not in known:
            raise ConfigError(_unknown(name, where, known))
        try:
            options[name] = TypeAdapter(_annotation(function, name)).validate_python(value)
        except ValidationError as error:
            raise ConfigError(f"{where}.{name} = {value!r}: {error.errors()[0]['msg']}") from error
    return options


def _annotation(function: Callable[..., Any], parameter: str) -> Any:
    """The type of one parameter; those of the others may be unknown until something heavy is imported."""
    annotation = inspect.signature(function).parameters[parameter].annotation
    return eval(annotation, vars(inspect.getmodule(function))) if isinstance(annotation, str) else annotation


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
        "each may stand in the YAML or here; here wins; null unsets; a NAME takes options: --field.option VALUE",
    )
    for name, field in _leaves(cls):
        default = "" if field.is_required() or field.default in (None, {}) else f" (default: {field.default})"
        switch: dict[str, Any] = {"nargs": "?", "const": "true"} if field.annotation is bool else {}
        group.add_argument(
            _hyphenated(f"--{name}"),
            **switch,
            dest=name,
            metavar=_kind(field),
            default=argparse.SUPPRESS,
            help=f"{field.description}{default}".replace("%", "%%"),
        )
    return parser


def _leaves(cls: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Dotted names of the fields that hold one value, in the order of the class."""
    for name, field in cls.model_fields.items():
        kind = field.annotation
        if inspect.isclass(kind) and issubclass(kind, BaseModel) and kind is not Plugin:
            yield from _leaves(kind, f"{prefix}{name}.")
        elif kind is not None and not str(kind).startswith("dict"):
            yield prefix + name, field


def _names_a_plugin(field: FieldInfo) -> bool:
    return Plugin in (field.annotation, *get_args(field.annotation))


def _kind(field: FieldInfo) -> str:
    kind = field.annotation
    if _names_a_plugin(field):
        return "NAME"
    name = kind.__name__ if inspect.isclass(kind) else str(kind)
    for noise in ("typing.", "pathlib.", " | None"):
        name = name.replace(noise, "")
    return name.removeprefix("Literal")


def _hyphenated(token: str) -> str:
    """`--run_dir=a_b` as `--run-dir=a_b`: both spellings of an option are one."""
    name, equals, value = token.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else token


def _pairs(tokens: list[str]) -> Iterator[tuple[str, str]]:
    """Options that the parser does not know: (`tasks.gsm8k.limit`, `50`), ... for the model to accept or refuse."""
    rest = iter(tokens)
    for token in rest:
        if not token.startswith("--"):
            raise ConfigError(f"{token!r} stands alone; write --some.field VALUE")
        name, equals, value = token[2:].partition("=")
        given = value if equals else next(rest, None)
        if given is None:
            raise ConfigError(f"--{name} needs a value")
        yield name.replace("-", "_"), given


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise ConfigError(f"no configuration {path} ({error.strerror}); committed ones are in configs/") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is no YAML: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds a {type(values).__name__}; a configuration is a mapping of fields to values")
    return values


def _value(text: str) -> Any:
    """Lists, mappings and null as YAML has them; any other text as it is, for the field's type to convert."""
    return yaml.safe_load(text) if text == "null" or text.startswith(("[", "{")) else text


def _spell_out_plugins(cls: type[BaseModel], values: dict[str, Any]) -> None:
    """Turn names of plugins that stand alone into mappings, which options can be added to."""
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
            raise ConfigError(f"--{dotted}: {'.'.join(parents)} is {below!r}, it has no fields")
        values = below
        key, rest = _next_key(values, rest)
    values[key] = value


def _next_key(values: Mapping[str, Any], parts: list[str]) -> tuple[str, list[str]]:
    """The key of `values` that the most of the first `parts` spell, or a new one, and the parts behind it.

    Keys of a file may hold hyphens ("smollm2-135m") and dots ("Qwen3.5-2B"), those of the command line are split at
    dots and have underscores.
    """
    for count in range(len(parts), 0, -1):
        spelled = ".".join(parts[:count])
        for key in values:
            if str(key).replace("-", "_") == spelled:
                return key, parts[count:]
    return parts[0], parts[1:]


def _explain(cls: type[BaseModel], problem: ErrorDetails) -> str:
    path = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        *parents, key = path
        return _unknown(key, ".".join(parents), list(_model_at(cls, parents).model_fields))
    if problem["type"] == "missing":
        return f"{'.'.join(path)} is not set, and has no default"
    place = ".".join(path)
    if problem["type"] == "value_error":
        raised = problem["ctx"]["error"]
        return f"{place}: {raised}" if place and not isinstance(raised, ConfigError) else str(raised)
    return f"{place} = {problem['input']!r}: {problem['msg']}"


def _model_at(cls: type[BaseModel], path: list[str]) -> type[BaseModel]:
    for name in path:
        below = cls.model_fields[name].annotation
        assert inspect.isclass(below) and issubclass(below, BaseModel)
        cls = below
    return cls


def _unknown(key: str, where: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    guess = f" Did you mean {close[0]}?" if close else ""
    return f"unknown key {key!r} in {where or 'the configuration'}; known are {', '.join(known)}.{guess}"
