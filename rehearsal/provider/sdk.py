"""The Pulumi package schema of the covered resource types, read from the installed pulumi_gcp SDK."""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import sys
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import pulumi
from pulumi import _types as sdk_types

# Assets are not taken: a program that states one is told that text is wanted.
_SCALARS: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    pulumi.Asset: "string",
    pulumi.Archive: "string",
}


def package_schema(tokens: Iterable[str], version: str) -> dict[str, Any]:
    """Resource types, their nested types and the provider's settings, in the form of Pulumi's schema.json.

    Raises LookupError when the SDK lacks a type.
    """
    types: dict[str, Any] = {}
    provider = importlib.import_module("pulumi_gcp").ProviderArgs
    return {
        "name": "gcp",
        "version": version,
        "provider": {"inputProperties": _declared(provider, "gcp::index", types)},
        "resources": {token: _resource(token, types) for token in tokens},
        "types": types,
    }


def _resource(token: str, types: dict[str, Any]) -> dict[str, Any]:
    _, module, name = token.split(":")
    try:
        sdk = importlib.import_module(f"pulumi_gcp.{module.split('/')[0]}")
        inputs, outputs = getattr(sdk, f"{name}Args"), getattr(sdk, name)
    except (ImportError, AttributeError) as error:
        raise LookupError(f"the installed pulumi_gcp SDK has no resource type {token}") from error
    return {
        "inputProperties": _declared(inputs, token, types),
        "requiredInputs": _required(inputs),
        "properties": _declared(outputs, token, types),
    }


def _declared(cls: type, token: str, types: dict[str, Any]) -> dict[str, Any]:
    return {name: _spec(hint, token, types) for name, hint in _hints(cls).items()}


def _required(cls: type) -> list[str]:
    return [name for name, hint in _hints(cls).items() if type(None) not in _members(hint)]


def _hints(cls: type) -> dict[str, Any]:
    """Annotations of a class's properties, by their names in a Pulumi program in any language (camelCase)."""
    names = sdk_types.input_type_py_to_pulumi_names(cls) if sdk_types.is_input_type(cls) else _output_names(cls)
    # A quoted annotation of the SDK means what it would in the module of the class; T is left by Input[T].
    scope = {**vars(sys.modules[cls.__module__]), "Output": pulumi.Output, "T": type(None)}
    found = {}
    for python, name in names.items():
        getter = inspect.getattr_static(cls, python).fget
        found[name] = typing.get_type_hints(getter, globalns=scope, localns=scope)["return"]
    return found


def _output_names(cls: type) -> Mapping[str, str]:
    if issubclass(cls, pulumi.Resource):
        names = sdk_types.resource_py_to_pulumi_names(cls)
        return {python: name for python, name in names.items() if name not in ("id", "urn")}
    return {
        python: getattr(member.fget, "_pulumi_name", python)
        for python, member in vars(cls).items()
        if isinstance(member, property)
    }


def _members(hint: Any) -> list[Any]:
    """The alternatives of an annotation, without the wrappers that Input and Output put around them."""
    origin = typing.get_origin(hint)
    if origin is pulumi.Output:
        return _members(typing.get_args(hint)[0])
    if origin is not typing.Union:
        return [hint]
    wrappers = (collections.abc.Awaitable, pulumi.Output)
    return [
        member
        for member in typing.get_args(hint)
        if typing.get_origin(member) not in wrappers and not isinstance(member, typing.ForwardRef)
    ]


def _spec(hint: Any, token: str, types: dict[str, Any]) -> dict[str, Any]:
    members = [m for m in _members(hint) if m is not type(None)]
    for member in members:
        if sdk_types.is_input_type(member) or sdk_types.is_output_type(member):
            return {"$ref": f"#/types/{_declare(member, token, types)}"}
    member = members[0]
    origin = typing.get_origin(member)
    if origin is collections.abc.Sequence:
        return {"type": "array", "items": _spec(typing.get_args(member)[0], token, types)}
    if origin is collections.abc.Mapping:
        return {"type": "object", "additionalProperties": _spec(typing.get_args(member)[1], token, types)}
    return {"type": _SCALARS[member]}


def _declare(cls: type, token: str, types: dict[str, Any]) -> str:
    """The name of a nested type. Inputs and outputs share it: what they name alike they hold alike."""
    name = cls.__name__.removesuffix("Args")
    declared = f"gcp:{token.split(':')[1].split('/')[0]}/{name}:{name}"
    if declared not in types:
        types[declared] = {"type": "object"}
        types[declared] |= {"properties": _declared(cls, token, types), "required": _required(cls)}
    elif sdk_types.is_output_type(cls):
        for property_, spec in _declared(cls, token, types).items():
            types[declared]["properties"].setdefault(property_, spec)
    return declared
