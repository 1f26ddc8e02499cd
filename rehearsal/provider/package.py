"""The package schema, which `pulumi import` needs to write code and `pulumi package` to describe the provider."""

from __future__ import annotations

from typing import Any

from rehearsal.provider.resources import covered
from rehearsal.provider.schema import ListOf, MapOf, Object, Scalar, Type, load


def package_schema(version: str) -> dict[str, Any]:
    """The covered resource types as a Pulumi package schema, read from the SDK."""
    types: dict[str, Any] = {}
    resources = {token: _resource(token, types) for token in covered()}
    settings = {name: {"type": "string"} for name in ("project", "region", "zone")}
    return {
        "name": "gcp",
        "version": version,
        "config": {"variables": settings},
        "provider": {"inputProperties": settings},
        "resources": resources,
        "types": types,
    }


def _resource(token: str, types: dict[str, Any]) -> dict[str, Any]:
    schema = load(token)
    return {
        "inputProperties": _properties(schema.inputs, token, types),
        "requiredInputs": _required(schema.inputs),
        "properties": _properties(schema.outputs, token, types),
    }


def _properties(type_: Object, token: str, types: dict[str, Any]) -> dict[str, Any]:
    return {name: _spec(known.type, token, types) for name, known in type_.properties.items()}


def _required(type_: Object) -> list[str]:
    return sorted(name for name, known in type_.properties.items() if known.required)


def _spec(type_: Type, token: str, types: dict[str, Any]) -> dict[str, Any]:
    if isinstance(type_, Scalar):
        return {"type": type_.kind}
    if isinstance(type_, ListOf):
        return {"type": "array", "items": _spec(type_.item, token, types)}
    if isinstance(type_, MapOf):
        return {"type": "object", "additionalProperties": _spec(type_.item, token, types)}
    return {"$ref": f"#/types/{_declare(type_, token, types)}"}


def _declare(type_: Object, token: str, types: dict[str, Any]) -> str:
    module = token.split(":")[1].split("/")[0]
    name = type_.cls.__name__.removesuffix("Args")
    declared = f"gcp:{module}/{name}:{name}"
    if declared not in types:
        types[declared] = {"type": "object"}
        types[declared] |= {"properties": _properties(type_, token, types), "required": _required(type_)}
    return declared
