"""Documents as GKE answers them: zero values left out, and only fields that the asked version knows."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml

from rehearsal.google.discovery import document

Json = dict[str, Any]


@cache
def _explicit() -> dict[str, frozenset[str]]:
    """Fields by schema that are answered even when false or zero: the `optional` ones of the protocol."""
    text = resources.files("rehearsal.google.services.container").joinpath("optional_fields.yaml").read_text("utf-8")
    return {schema: frozenset(fields) for schema, fields in yaml.safe_load(text).items()}


def canonical(schema: str, value: Json) -> Json:
    """The document without false, 0, "", empty lists and empty maps, except where the field is optional."""
    return _walk(schema, value, "v1beta1", keep_unknown=True)


def view(schema: str, value: Json, version: str) -> Json:
    """The document as a version of the API shows it."""
    return _walk(schema, value, version, keep_unknown=False)


def _walk(schema: str, value: Json, version: str, keep_unknown: bool) -> Json:
    properties: Json = document("container", version).schemas[schema].get("properties", {})
    explicit = _explicit().get(schema, frozenset())
    answer: Json = {}
    for name, item in value.items():
        prop = properties.get(name)
        if prop is None:
            if keep_unknown:
                answer[name] = item
        elif "$ref" in prop and isinstance(item, dict):
            answer[name] = _walk(prop["$ref"], item, version, keep_unknown)
        elif isinstance(item, list):
            ref = prop.get("items", {}).get("$ref")
            if item:
                answer[name] = [_walk(ref, i, version, keep_unknown) for i in item] if ref else item
        elif isinstance(item, dict):
            if item:
                answer[name] = item
        elif name in explicit or not _is_zero(prop, item):
            answer[name] = item
    return answer


def _is_zero(prop: Json, item: Any) -> bool:
    return item in (False, 0, "", "0") or ("enum" in prop and item == prop["enum"][0])
