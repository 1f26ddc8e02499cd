"""From a stack file or Pulumi's configuration to checked settings, or to the list of all faults."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pathways import checks
from pathways.faults import Fault, StackError
from pathways.settings import Settings

# Where settings stand that have no place under the pathways namespace.
_PATHS = {"project": "gcp:project", "region": "gcp:region"}
# Settings of the model that the pathways namespace does not have.
_ELSEWHERE = {
    "stack": "leave it out: the file's name says it",
    **{name: f"write {path}" for name, path in _PATHS.items()},
}
# Stand-ins for required settings that are missing or faulty, so that the rest can still be checked.
_STAND_INS: dict[str, Any] = {
    "project": "stand-in-project",
    "region": "us-east5",
    "slices": {"accelerator": "v6e", "topology": "4x4", "zone": "us-east5-b"},
}

Loc = tuple[int | str, ...]


def from_file(path: Path) -> tuple[Settings, list[Fault]]:
    """Settings and warnings of `Pulumi.<stack>.yaml`. Raises StackError with every fault."""
    stack = path.name.removeprefix("Pulumi.").removesuffix(".yaml")
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise StackError(
            stack,
            [
                Fault(
                    "stack-file",
                    str(path),
                    f"cannot be read: {error.strerror}",
                    "name a stack that has a file in stacks/",
                )
            ],
        ) from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f"line {where.line + 1}" if where else "somewhere"
        raise StackError(
            stack,
            [
                Fault(
                    "stack-file",
                    path.name,
                    f"is not YAML, {line}: {getattr(error, 'problem', error)}",
                    "mend that line",
                )
            ],
        ) from error
    config = document.get("config") if isinstance(document, dict) else None
    if not isinstance(config, dict):
        raise StackError(
            stack,
            [
                Fault(
                    "stack-file",
                    path.name,
                    "has no mapping named config",
                    "begin it with config: and indent the settings below",
                )
            ],
        )
    return read(config, stack)


def from_pulumi(config: Mapping[str, str], stack: str) -> tuple[Settings, list[Fault]]:
    """Settings and warnings from Pulumi's own reading of the stack file, in which objects are JSON text."""
    return read({key: _decode(value) for key, value in config.items()}, stack)


def read(config: Mapping[str, Any], stack: str) -> tuple[Settings, list[Fault]]:
    """Settings and warnings from the `config:` mapping. Raises StackError with every fault."""
    values: dict[str, Any] = {"stack": stack}
    misplaced: list[Fault] = []
    for key, value in config.items():
        namespace, _, name = key.partition(":")
        if namespace == "pathways" and name in _ELSEWHERE:
            misplaced.append(Fault("unknown-key", key, "there is no such setting", _ELSEWHERE[name]))
        elif namespace == "pathways" or key in _PATHS.values():
            values[name] = value
    settings, faults = _validate(values)
    faults += misplaced
    findings = checks.run(settings, [fault.path for fault in faults])
    errors = faults + [fault for fault in findings if fault.severity == "error"]
    if errors:
        raise StackError(stack, errors)
    return settings, [fault for fault in findings if fault.severity == "warning"]


def _decode(value: str) -> Any:
    if value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _validate(values: dict[str, Any]) -> tuple[Settings, list[Fault]]:
    """Settings built from what is valid of `values`, and a fault for each thing that is not."""
    try:
        return Settings.model_validate(values), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    faults = [_fault(detail) for detail in details]
    usable: Any = json.loads(json.dumps(values, default=str))
    while True:
        for detail in reversed(details):
            missing = detail["type"] == "missing"
            if not (missing and _stand_in(detail["loc"])):
                # What lacks a part that nothing stands in for is left out whole.
                _remove(usable, detail["loc"][:-1] if missing else detail["loc"])
        try:
            return Settings.model_validate(_filled(usable, _STAND_INS)), faults
        except ValidationError as error:
            details = error.errors(include_url=False)


def _stand_in(loc: Loc) -> Any:
    found: Any = _STAND_INS
    for part in loc:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _remove(values: Any, loc: Loc) -> None:
    """Take away what stands at `loc`; of a list with a faulty element, the whole list."""
    keys = [part for part in loc if part != "[key]"]
    if any(isinstance(part, int) for part in keys):
        keys = keys[: next(n for n, part in enumerate(keys) if isinstance(part, int))]
    *parents, last = keys
    for part in parents:
        values = values.get(part, {})
    values.pop(last, None)


def _filled(values: Any, stand_ins: Mapping[str, Any]) -> dict[str, Any]:
    filled = dict(values)
    for key, stand_in in stand_ins.items():
        if isinstance(stand_in, dict):
            filled[key] = _filled(filled.get(key) or {}, stand_in)
        else:
            filled.setdefault(key, stand_in)
    return filled


def _fault(detail: ErrorDetails) -> Fault:
    kind, loc, given = detail["type"], detail["loc"], detail["input"]
    context = detail.get("ctx", {})
    path = _path(loc)
    if isinstance(given, list) and loc[0] == "slices":
        return Fault(
            "slices-alike",
            path,
            "the slices of one Pathways cluster are all alike",
            "write one of these, with count: for how many; slices of another kind need a stack of their own",
        )
    if kind == "missing":
        return Fault("missing", path, "is required", "add it")
    if kind == "extra_forbidden":
        return Fault("unknown-key", path, "there is no such setting", _nearest_key(loc))
    if kind == "literal_error":
        return Fault("not-a-choice", path, f"{_shown(given)} is none of the choices", f"write {context['expected']}")
    if kind == "string_pattern_mismatch":
        return Fault("wrong-form", path, f"{_shown(given)} does not have the form {context['pattern']}", "correct it")
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        return Fault("out-of-range", path, f"{_shown(given)} must be {bound}", f"write a number of {bound}")
    wanted = _WORDS.get(kind)
    if wanted:
        quoted = f'; if you mean the word, quote it: "{given}"' if kind == "string_type" else ""
        return Fault("wrong-type", path, f"{_shown(given)} is not {wanted}", f"write {wanted}{quoted}")
    return Fault("invalid", path, f"{_shown(given)}: {detail['msg']}", "correct it")


_WORDS = {
    "string_type": "a word",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping of settings",
    "model_attributes_type": "a mapping of settings",
    "string_too_long": "that short",
}


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _path(loc: Loc) -> str:
    first, *rest = (part for part in loc if part != "[key]")
    path = _PATHS.get(str(first), f"pathways:{first}")
    return path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)


def _nearest_key(loc: Loc) -> str:
    known = sorted(_keys(loc[:-1]))
    near = difflib.get_close_matches(str(loc[-1]), known, n=1)
    return f"did you mean {near[0]}?" if near else f"leave it out; known here: {', '.join(known)}"


def _keys(loc: Loc) -> list[str]:
    """The keys that the section at `loc` has."""
    section: Any = Settings
    for part in loc:
        if isinstance(part, int) or section is None:
            continue
        section = next(
            (_section(field.annotation) for field in section.model_fields.values() if field.alias == part),
            None,
        )
    hidden = {"stack", *_PATHS}
    return (
        [field.alias or name for name, field in section.model_fields.items() if name not in hidden] if section else []
    )


def _section(annotation: Any) -> type[BaseModel] | None:
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None
