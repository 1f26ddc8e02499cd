"""Property values as plain Python, and back to what the engine speaks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from google.protobuf import struct_pb2

from rehearsal.provider.paths import Pattern

# Signatures fixed by Pulumi's protocol (sdk/proto/pulumi/provider.proto and the SDKs' rpc module).
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWN_TEXTS = {
    _UNKNOWN_TEXT,
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
}


class Unknown:
    """A value that only the deployment will tell."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = Unknown()


def from_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Properties sent by the engine; secrets are unwrapped, nulls left out, whole numbers become int."""
    read = {name: _from_value(value) for name, value in struct.fields.items()}
    return {name: value for name, value in read.items() if value is not None}


def _from_value(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        fields = value.struct_value.fields
        if _SIGNATURE in fields and fields[_SIGNATURE].string_value == _SECRET:
            return _from_value(fields["value"])
        return from_struct(value.struct_value)
    if kind == "list_value":
        return [_from_value(item) for item in value.list_value.values]
    if kind == "string_value":
        return UNKNOWN if value.string_value in _UNKNOWN_TEXTS else value.string_value
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    return value.bool_value if kind == "bool_value" else None


def to_struct(properties: dict[str, Any], secrets: Collection[Pattern] = ()) -> struct_pb2.Struct:
    """Properties for the engine; those whose pattern is in `secrets` are marked secret."""
    fields = {name: _to_value(value, (name,), secrets) for name, value in properties.items() if value is not None}
    return struct_pb2.Struct(fields=fields)


def _to_value(value: Any, at: Pattern, secrets: Collection[Pattern]) -> struct_pb2.Value:
    plain = _to_plain_value(value, at, secrets)
    if at not in secrets:
        return plain
    marked = {_SIGNATURE: struct_pb2.Value(string_value=_SECRET), "value": plain}
    return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=marked))


def _to_plain_value(value: Any, at: Pattern, secrets: Collection[Pattern]) -> struct_pb2.Value:
    if value is UNKNOWN:
        return struct_pb2.Value(string_value=_UNKNOWN_TEXT)
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    if isinstance(value, int | float):
        return struct_pb2.Value(number_value=value)
    if isinstance(value, str):
        return struct_pb2.Value(string_value=value)
    if isinstance(value, list):
        # An unmarked list or map inside a list keeps the pattern of the list: patterns carry no index.
        items = [_to_plain_value(item, at, secrets) for item in value]
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=items))
    if isinstance(value, dict):
        fields = {k: _to_value(v, (*at, k), secrets) for k, v in value.items() if v is not None}
        return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=fields))
    return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
