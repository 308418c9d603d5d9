"""Base of run configurations: frozen models that reject unknown keys with an error that lists the known ones.

A field that names a plugin is open: its options are the parameters of the plugin's own function, checked by
`options_for`. Loading from a file and the command line is in `eval/command_line.py`.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails

LISTED = 40
"""Above this number of known keys, an error names at most the closest one."""


class ConfigError(ValueError):
    """An error that ends a command with one line and exit status 2, no traceback; says what is wrong and what to do."""


class Config(BaseModel):
    """Base of every run's configuration: frozen, rejects unknown keys, and nested defaults can be set in part."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

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
    """A plugin, given by the name of its file with options, or by the name alone."""

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


def validate(cls: type[C], values: Mapping[str, Any]) -> C:
    """Build `cls`; every problem in `values` is listed in one `ConfigError`."""
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
        ours: parameters that the caller fills in, so that a configuration must not.

    Raises:
        ConfigError: `function` does not take an option, or a value has the wrong type.
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
    """The type of one parameter; the annotations of others may need heavy imports to resolve."""
    annotation = inspect.signature(function).parameters[parameter].annotation
    return eval(annotation, vars(inspect.getmodule(function))) if isinstance(annotation, str) else annotation


def _explain(cls: type[BaseModel], problem: ErrorDetails) -> str:
    path = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        *parents, key = path
        return _unknown(key, ".".join(parents), list(_model_at(cls, parents).model_fields))
    if problem["type"] == "missing":
        return f"{'.'.join(path)} is not set and has no default"
    place = ".".join(path)
    if problem["type"] == "value_error":
        raised = problem["ctx"]["error"]
        return f"{place}: {raised}" if place and not isinstance(raised, ConfigError) else str(raised)
    message = problem["msg"]
    if problem["type"] in ("dict_type", "model_type"):
        message = f"it must be a mapping; write {path[-1]}: {{...}} in the YAML or --{place}.FIELD VALUE"
    if problem["type"] in ("list_type", "tuple_type"):
        message = f"it must be a list; write {path[-1]}: [...] in the YAML or --{place} '[...]'"
    return f"{place} = {problem['input']!r}: {message}"


def _model_at(cls: type[BaseModel], path: list[str]) -> type[BaseModel]:
    for name in path:
        kind = cls.model_fields[name].annotation
        cls = next(part for part in (kind, *get_args(kind)) if inspect.isclass(part) and issubclass(part, BaseModel))
    return cls


def _unknown(key: str, where: str, known: list[str]) -> str:
    unknown = f"unknown key {key!r} in {where or 'the configuration'}"
    close = difflib.get_close_matches(key, known, n=1)
    guess = f" Did you mean {close[0]}?" if close else ""
    if len(known) > LISTED:
        return f"{unknown}.{guess}" if guess else f"{unknown}, and none of its {len(known)} keys is similar."
    return f"{unknown}; known are {', '.join(known)}.{guess}"
