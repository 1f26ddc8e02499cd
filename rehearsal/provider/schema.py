"""Inputs and outputs of a resource type, read from the installed pulumi_gcp SDK."""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import sys
import threading
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import pulumi
from pulumi import _types as sdk_types


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
class Object:
    """A class of the SDK; its properties are read when first asked for."""

    cls: type

    @cached_property
    def properties(self) -> Mapping[str, Property]:
        return _properties(self.cls)


Type = Scalar | ListOf | MapOf | Object


@dataclass(frozen=True)
class Property:
    """One property, by its name in a Pulumi program in any language (camelCase)."""

    name: str
    type: Type
    required: bool


@dataclass(frozen=True)
class Schema:
    """A resource type: `inputs` is what a program may state, `outputs` what its state holds."""

    token: str
    inputs: Object
    outputs: Object


_SCALARS: dict[Any, Scalar] = {
    str: Scalar("string"),
    int: Scalar("integer"),
    float: Scalar("number"),
    bool: Scalar("boolean"),
}


# The SDK loads its modules lazily, and a second thread would find the first one's half done.
_loading = threading.RLock()


def load(token: str) -> Schema:
    """The schema of `gcp:container/nodePool:NodePool`. Raises LookupError when the SDK has no such type."""
    with _loading:
        return _load(token)


@cache
def _load(token: str) -> Schema:
    _, module, name = token.split(":")
    try:
        sdk = importlib.import_module(f"pulumi_gcp.{module.split('/')[0]}")
        return Schema(token, Object(getattr(sdk, f"{name}Args")), Object(getattr(sdk, name)))
    except (ImportError, AttributeError) as error:
        raise LookupError(f"the installed pulumi_gcp SDK has no resource type {token}") from error


@cache
def provider_inputs() -> frozenset[str]:
    """Names that configure the provider itself, as in `gcp:NAME`."""
    with _loading:
        return frozenset(_properties(importlib.import_module("pulumi_gcp").ProviderArgs))


@cache
def _properties(cls: type) -> Mapping[str, Property]:
    names = sdk_types.input_type_py_to_pulumi_names(cls) if sdk_types.is_input_type(cls) else _output_names(cls)
    # A quoted annotation of the SDK means what it would in the module of the class; T is left by Input[T].
    scope = {**vars(sys.modules[cls.__module__]), "Output": pulumi.Output, "T": type(None)}
    found = {}
    for python, name in names.items():
        getter = inspect.getattr_static(cls, python)
        hint = typing.get_type_hints(getter.fget, globalns=scope, localns=scope).get("return")
        found[name] = Property(name, _type(hint), required=type(None) not in _members(hint))
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
    kept = []
    for member in typing.get_args(hint):
        wrapper = typing.get_origin(member) in (collections.abc.Awaitable, pulumi.Output)
        if not wrapper and not isinstance(member, typing.ForwardRef):
            kept.append(member)
    return kept


def _type(hint: Any) -> Type:
    members = [m for m in _members(hint) if m is not type(None)]
    for member in members:
        if sdk_types.is_input_type(member) or sdk_types.is_output_type(member):
            return Object(member)
    member = members[0]
    origin = typing.get_origin(member)
    if origin is collections.abc.Sequence:
        return ListOf(_type(typing.get_args(member)[0]))
    if origin is collections.abc.Mapping:
        return MapOf(_type(typing.get_args(member)[1]))
    return _SCALARS[member]
