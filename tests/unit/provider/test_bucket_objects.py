from __future__ import annotations

import base64
import hashlib
from email import message_from_bytes
from typing import Any

import pytest

from rehearsal.provider.plan import Change
from rehearsal.provider.resources.base import Refused
from tests.unit.provider.fakes import FakeGoogle

OBJECT = "gcp:storage/bucketObject:BucketObject"
UPLOAD = "storage/upload/storage/v1/b/bucket/o"
PATH = "storage/storage/v1/b/bucket/o/scripts/start.sh"
INPUTS = {
    "bucket": "bucket",
    "name": "scripts/start.sh",
    "content": "#!/bin/bash\necho ü\n",
    "contentType": "text/x-shellscript",
    "cacheControl": "no-store",
}


def md5(text: str) -> str:
    return base64.b64encode(hashlib.md5(text.encode()).digest()).decode()


def told(content: str) -> dict[str, Any]:
    kept = {name: INPUTS[name] for name in ("bucket", "name", "contentType", "cacheControl")}
    return {**kept, "md5Hash": md5(content), "generation": "7", "storageClass": "STANDARD"}


@pytest.fixture
def fake() -> FakeGoogle:
    google = FakeGoogle()
    google.answer("POST", UPLOAD, told(INPUTS["content"]))
    google.answer("GET", PATH, told(INPUTS["content"]))
    return google


def test_an_object_is_uploaded_with_its_settings_and_its_text(fake: FakeGoogle) -> None:
    identity, state = fake.kind(OBJECT).create(INPUTS, 60)
    assert identity == "bucket-scripts/start.sh"
    assert (state["content"], state["generation"], state["outputName"]) == (INPUTS["content"], 7, INPUTS["name"])
    [body] = fake.sent("POST", UPLOAD)
    assert fake.requests[0][0] == "POST"
    message = message_from_bytes(b"Content-Type: " + fake.types[0].encode() + b"\r\n\r\n" + body)
    settings, content = message.get_payload()
    assert b'"cacheControl": "no-store"' in settings.get_payload(decode=True)
    assert content.get_payload(decode=True).decode() == INPUTS["content"]
    assert content.get_content_type() == "text/x-shellscript"


def test_another_text_is_uploaded_in_place_and_another_cache_control_replaces(fake: FakeGoogle) -> None:
    kind = fake.kind(OBJECT)
    _, state = kind.create(INPUTS, 60)
    assert kind.changes(state, INPUTS) == []
    changed = {**INPUTS, "content": "other"}
    assert kind.changes(state, changed) == [Change(("content",), "update", False)]
    kind.update("bucket-scripts/start.sh", state, changed, [], 60)
    assert b"other" in fake.sent("POST", UPLOAD)[-1]
    assert [c.replaces for c in kind.changes(state, {**INPUTS, "cacheControl": "no-cache"})] == [True]


def test_text_that_somebody_else_replaced_is_uploaded_again(fake: FakeGoogle) -> None:
    kind = fake.kind(OBJECT)
    identity, state = kind.create(INPUTS, 60)
    fake.answer("GET", PATH, told("vandalised"))
    found = kind.read(identity, INPUTS, state)
    assert found is not None
    assert kind.changes(found[2], found[1]) == [Change(("detectMd5hash",), "update", False)]
    kind.update(identity, found[2], found[1], [], 60)
    assert len(fake.sent("POST", UPLOAD)) == 2


def test_files_are_not_taken(fake: FakeGoogle) -> None:
    with pytest.raises(Refused, match="uploads text only"):
        fake.kind(OBJECT).create({"bucket": "bucket", "name": "n"}, 60)
