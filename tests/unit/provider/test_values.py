from __future__ import annotations

from google.protobuf import json_format, struct_pb2

from rehearsal.provider.paths import parse, show, starts_with
from rehearsal.provider.values import UNKNOWN, from_struct, to_struct

_SIGNATURE = "4dabf18193072939515e22adb298388d"


def struct(**fields: object) -> struct_pb2.Struct:
    return json_format.ParseDict(fields, struct_pb2.Struct())


def test_properties_survive_the_way_to_the_engine_and_back() -> None:
    properties = {"a": 1, "b": 0.5, "c": True, "d": "x", "e": [{"f": "y"}], "g": {"h": UNKNOWN}}
    assert from_struct(to_struct(properties)) == properties


def test_nulls_are_left_out_and_secrets_unwrapped() -> None:
    secret = {_SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": "s"}
    assert from_struct(struct(a=None, b={"c": None}, d=secret)) == {"b": {}, "d": "s"}


def test_only_the_listed_properties_are_secret() -> None:
    sent = json_format.MessageToDict(to_struct({"auth": {"key": "k", "ca": "c"}}, {("auth", "key")}))
    assert sent["auth"]["ca"] == "c"
    assert sent["auth"]["key"] == {_SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": "k"}


def test_paths_read_as_they_are_written() -> None:
    for text in ("a.b[0].c", 'labels["x.y/z"]', "a"):
        assert show(parse(text)) == text


def test_stars_in_ignored_paths_stand_for_any_step() -> None:
    assert starts_with(("pools", 3, "name"), parse("pools[*].name"))
    assert not starts_with(("pools", 3, "size"), parse("pools[*].name"))
    assert not starts_with(("pools",), parse("pools[*].name"))
