"""Names of enum numbers, from the message types of Google's Python clients.

Those clients send enums as numbers over REST, and discovery documents know only names. Loading the types
takes seconds, so it is done for the first number that arrives.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from functools import cache

from rehearsal.google.api import EnumName


def enum_name(module: str) -> EnumName:
    """The lookup (schema, field, number) -> name for a client's module, such as google.cloud.container_v1."""
    return lambda schema, field, number: _names(module).get((schema, field), {}).get(number)


@cache
def _names(module: str) -> dict[tuple[str, str], dict[int, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        types = vars(importlib.import_module(module)).values()
    found: dict[tuple[str, str], dict[int, str]] = {}
    for kind in types:
        if hasattr(kind, "pb") and hasattr(kind, "meta"):
            for descriptor in _with_nested(kind.pb(kind()).DESCRIPTOR):
                for field in descriptor.fields:  # type: ignore[attr-defined]
                    if field.enum_type is not None:
                        names = {value.number: value.name for value in field.enum_type.values}
                        found[descriptor.name, field.json_name] = names  # type: ignore[attr-defined]
    return found


def _with_nested(descriptor: object) -> Iterator[object]:
    yield descriptor
    for nested in descriptor.nested_types:  # type: ignore[attr-defined]
        yield from _with_nested(nested)
