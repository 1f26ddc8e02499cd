"""The JSON Schema of a stack file, for editors: what may stand where, and what it means."""

from __future__ import annotations

from typing import Any

from pathways import tpu
from pathways.settings import Settings

# Settings that Pulumi's Google provider reads too, and so under its namespace.
_GOOGLE = {"project": "gcp:project", "region": "gcp:region"}
# Pulumi knows the stack's name.
_HIDDEN = {"stack"}
# What is made from the stack's name where the file is silent.
_DERIVED = {"name"}

Schema = dict[str, Any]


def stack_file() -> Schema:
    """The schema of a whole `Pulumi.<stack>.yaml`.

    It is as strict as the settings and knows the slices of every generation; what depends on several sections is
    left to the checks. Unlike the program it wants the accelerator in lower case.
    """
    settings = Settings.model_json_schema(by_alias=True)
    sections = {_key(name): section for name, section in settings["properties"].items() if name not in _HIDDEN}
    definitions = settings["$defs"]
    definitions["Slices"] = _with_catalogue(definitions["Slices"])
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pathways stack file",
        "description": "Pulumi.<stack>.yaml: where Pathways runs, on which TPU slices and for whom.",
        "type": "object",
        "required": ["config"],
        "properties": {
            "config": {
                "type": "object",
                "required": [_key(name) for name in settings["required"] if name not in _HIDDEN | _DERIVED],
                "properties": sections,
                # Other namespaces belong to other providers.
                "propertyNames": {"anyOf": [{"enum": sorted(sections)}, {"not": {"pattern": "^pathways:"}}]},
            }
        },
        "$defs": definitions,
    }
    plain: Schema = _for_editors(schema)
    return plain


def _key(name: str) -> str:
    return _GOOGLE.get(name, f"pathways:{name}")


def _with_catalogue(slices: Schema) -> Schema:
    """The section with each generation's topologies and machine types."""
    generations = tpu.catalogue().generations.values()
    properties = dict(slices["properties"])
    spellings = [name for each in generations for name in (each.name, *each.aliases)]
    properties["accelerator"] = {**properties["accelerator"], "enum": spellings}
    return {**slices, "properties": properties, "allOf": [_offer(each) for each in generations]}


def _offer(generation: tpu.Generation) -> Schema:
    """What a file that names this generation may ask for."""
    names = [generation.name, *generation.aliases]
    machines = [machine.name for machine in generation.machine_types if machine.supports_pathways]
    return {
        "if": {"required": ["accelerator"], "properties": {"accelerator": {"enum": names}}},
        "then": {
            "properties": {
                "topology": {"enum": [str(topology) for topology in generation.topologies]},
                "machineType": {"enum": [*machines, None]},
            }
        },
    }


def _for_editors(schema: Any, is_schema: bool = True) -> Any:
    """Without the titles, which repeat the keys, and without defaults that only repeat those of a section's parts."""
    if isinstance(schema, list):
        return [_for_editors(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    noise = set()
    if is_schema:
        default = schema.get("default")
        noise |= {"title"} if "$schema" not in schema else set()
        noise |= {"default"} if default in (None, []) or isinstance(default, dict) else set()
    return {
        # What stands below properties are names, not parts of a schema.
        key: _for_editors(value, is_schema=not (is_schema and key == "properties"))
        for key, value in schema.items()
        if key not in noise
    }
