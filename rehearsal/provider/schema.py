"""Inputs and outputs of the covered resource types.

They come from the SDK, whose modules take seconds to import: a rehearsal keeps what was read from them.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rehearsal.home import Home
from rehearsal.provider.facts import all_facts


@dataclass(frozen=True)
class Scalar:
    """`kind` is string, integer, number or boolean, the words of a Pulumi schema."""

    kind: str


@dataclass(frozen=True)
class ListOf:
    item: Type


@dataclass(frozen=True)
class MapOf:
    item: Type


@dataclass(frozen=True)
class Property:
    """One property, by its name in a Pulumi program in any language (camelCase)."""

    name: str
    type: Type
    required: bool


@dataclass(frozen=True)
class Object:
    """A block of properties, made of the specifications in a Pulumi schema when it is first looked into."""

    specs: Mapping[str, Any] = field(repr=False)
    required: frozenset[str]
    types: Mapping[str, Any] = field(repr=False)

    @cached_property
    def properties(self) -> Mapping[str, Property]:
        return {
            name: Property(name, _type(spec, self.types), name in self.required) for name, spec in self.specs.items()
        }


Type = Scalar | ListOf | MapOf | Object


@dataclass(frozen=True)
class Schema:
    """A resource type: `inputs` is what a program may state, `outputs` what its state holds."""

    token: str
    inputs: Object
    outputs: Object


_loading = threading.Lock()


@cache
def load(token: str) -> Schema:
    """The schema of `gcp:container/nodePool:NodePool`. Raises LookupError for a type that is not covered."""
    whole = package()
    try:
        spec = whole["resources"][token]
    except KeyError:
        raise LookupError(f"{token} is not among the covered resource types") from None
    required = frozenset(spec["requiredInputs"])
    inputs = Object(spec["inputProperties"], required, whole["types"])
    return Schema(token, inputs, Object(spec["properties"], frozenset(), whole["types"]))


def provider_inputs() -> frozenset[str]:
    """Names that configure the provider itself, as in `gcp:NAME`."""
    return frozenset(package()["provider"]["inputProperties"])


def package() -> dict[str, Any]:
    """The package schema of what is covered, from the rehearsal's folder where there is one, else from the SDK."""
    with _loading:
        return _package()


@cache
def _package() -> dict[str, Any]:
    installed, tokens = version("pulumi_gcp"), sorted(all_facts())
    kept = _kept(installed, tokens)
    if kept and kept.exists():
        read: dict[str, Any] = json.loads(kept.read_text())
        return read
    # Imported only now: it pulls in the whole SDK.
    from rehearsal.provider.sdk import package_schema

    made = package_schema(tokens, installed)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(made))
        draft.replace(kept)
    return made


def _kept(installed: str, tokens: list[str]) -> Path | None:
    """Where a rehearsal keeps the schema; its name changes with the SDK, the types and the code that reads them."""
    if not os.environ.get("REHEARSAL_HOME"):
        return None
    reader = Path(__file__).with_name("sdk.py").read_bytes()
    digest = hashlib.sha256(json.dumps([installed, tokens]).encode() + reader).hexdigest()[:16]
    return Home.default().root / "provider" / f"schema-{digest}.json"


def _type(spec: Mapping[str, Any], types: Mapping[str, Any]) -> Type:
    if "$ref" in spec:
        declared = types[spec["$ref"].removeprefix("#/types/")]
        return Object(declared["properties"], frozenset(declared["required"]), types)
    if spec["type"] == "array":
        return ListOf(_type(spec["items"], types))
    if spec["type"] == "object":
        return MapOf(_type(spec["additionalProperties"], types))
    return Scalar(spec["type"])
